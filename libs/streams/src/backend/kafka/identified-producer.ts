import type { ProducerId } from '../../protocol/record-batch-encoder.js';
import { BatchWriter, type BatchWriterOptions } from './batch-writer.js';
import { producerError, TransactionCoordinator } from './transaction-coordinator.js';

type WriterOptions = Pick<BatchWriterOptions, 'produce' | 'isTransactional' | 'retryForMs'>;

export interface IdentifiedProducerOptions extends Omit<BatchWriterOptions, keyof WriterOptions> {
  readonly transactionalId: string;
}

/**
 * A writer under the producer id of a transactional.id. It is unusable after any failure, because its sequence numbers
 * and the outcome of its requests are then unknown.
 */
export abstract class IdentifiedProducer {
  protected readonly calls: TransactionCoordinator;
  protected readonly writer: BatchWriter;
  protected identity: ProducerId = { producerId: -1, producerEpoch: -1 };
  private state: 'new' | 'ready' | 'dead' = 'new';

  protected constructor(
    private readonly identified: IdentifiedProducerOptions,
    writer: WriterOptions,
  ) {
    this.calls = new TransactionCoordinator(identified);
    this.writer = new BatchWriter({ ...identified, ...writer });
  }

  protected async identify(work: () => Promise<ProducerId>): Promise<void> {
    this.identity = await this.inState('new', work);
    this.state = 'ready';
  }

  protected async inState<T>(state: 'new' | 'ready', work: () => Promise<T>): Promise<T> {
    try {
      if (this.state !== state) throw new Error(`it is ${this.state}`);
      return await work();
    } catch (error) {
      this.end();
      throw producerError(this.identified.transactionalId, error);
    }
  }

  protected end(): void {
    this.state = 'dead';
  }
}
