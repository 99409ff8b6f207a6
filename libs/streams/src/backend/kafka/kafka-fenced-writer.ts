import type { StreamsLogger } from '../../logger.js';
import { RecordCollector } from '../../protocol/record-collector.js';
import type { OutgoingRecord, TopicPartition } from '../../record.js';
import type { BaseOffsets, FencedWriter } from '../backend.js';
import { BatchWriter, type Produce } from './batch-writer.js';
import type { KafkaClient } from './kafka-client.js';
import {
  createTransactionCoordinator,
  partitionsByTopic,
  producerError,
  type ProducerId,
  type TransactionCoordinator,
} from './transaction-coordinator.js';

export interface FencedWriterOptions {
  readonly transactionalId: string;
  readonly partitions: readonly TopicPartition[];
  /** Shared with other writers; the backend closes it. */
  readonly client: KafkaClient;
  readonly produce: Produce;
  readonly logger: StreamsLogger;
  readonly now: () => number;
  readonly monotonicNow: () => number;
  readonly maxBatchBytes: number;
}

/**
 * Waits for a broker that restarts: after a failure the caller repeats webhook attempts whose records were not written.
 */
const RETRY_FOR_MS = 60_000;
const TRANSACTION_TIMEOUT_MS = 15_000;

/**
 * Idempotent writes under the producer id and epoch of a transactional.id, outside transactions. A broker refuses a
 * batch whose epoch is older than the newest that the partition has seen, transactional or not. So one transaction
 * without records, whose markers carry the new epoch into every partition, fences the predecessor. From then on an
 * append is a single request; a transaction is eight, and several writes inside the broker.
 */
export class KafkaFencedWriter implements FencedWriter {
  private readonly calls: TransactionCoordinator;
  private readonly writer: BatchWriter;
  private identity: ProducerId | null = null;
  private state: 'new' | 'writing' | 'dead' = 'new';

  constructor(private readonly options: FencedWriterOptions) {
    this.calls = createTransactionCoordinator(options);
    this.writer = new BatchWriter({
      ...options,
      isTransactional: false,
      retryForMs: RETRY_FOR_MS,
      repeatsUnanswered: true,
    });
  }

  async init(): Promise<void> {
    if (this.state !== 'new') throw new Error('A fenced writer is initialized once: make another.');
    await this.orDie(async () => {
      const identity = await this.calls.initProducerId(TRANSACTION_TIMEOUT_MS);
      const topics = partitionsByTopic(this.options.partitions);
      await this.calls.call('AddPartitionsToTxn', { ...identity, topics });
      await this.calls.call('EndTxn', { ...identity, transactionResult: true });
      // EndTxn returns before the markers are written. The next InitProducerId returns after.
      this.identity = await this.calls.initProducerId(TRANSACTION_TIMEOUT_MS);
      this.state = 'writing';
    });
  }

  async append(records: Iterable<OutgoingRecord>): Promise<BaseOffsets> {
    const { identity } = this;
    if (this.state !== 'writing' || !identity) throw this.unusable();
    const outputs = RecordCollector.of(records, this.options.maxBatchBytes).filled();
    return this.orDie(() => this.writer.write(outputs, identity));
  }

  close(): Promise<void> {
    this.state = 'dead';
    return Promise.resolve();
  }

  private async orDie<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      this.state = 'dead';
      throw producerError(this.options.transactionalId, error);
    }
  }

  private unusable(): Error {
    return producerError(this.options.transactionalId, new Error(`it is ${this.state}`));
  }
}
