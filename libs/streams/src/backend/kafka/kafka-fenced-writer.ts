import { RecordCollector } from '../../protocol/record-collector.js';
import type { OutgoingRecord, TopicPartition } from '../../record.js';
import type { BaseOffsets, FencedWriter } from '../backend.js';
import type { Produce } from './batch-writer.js';
import { IdentifiedProducer, type IdentifiedProducerOptions } from './identified-producer.js';

/** The client is shared with other writers; the backend closes it. */
interface FencedWriterOptions extends IdentifiedProducerOptions {
  readonly partitions: readonly TopicPartition[];
  readonly produce: Produce;
}

/** Covers a broker restart: after a failure the caller repeats webhook attempts whose records were not written. */
const RETRY_FOR_MS = 60_000;
const TRANSACTION_TIMEOUT_MS = 15_000;

/**
 * Idempotent writes under the producer id and epoch of a transactional.id, outside transactions. A broker refuses a
 * batch whose epoch is older than the newest that the partition has seen, transactional or not. So one transaction
 * without records, whose markers carry the new epoch into every partition, fences the predecessor. From then on an
 * append is a single request; a transaction is eight, and several writes inside the broker.
 */
export class KafkaFencedWriter extends IdentifiedProducer implements FencedWriter {
  constructor(private readonly options: FencedWriterOptions) {
    const { produce } = options;
    super(options, { produce, isTransactional: false, retryForMs: RETRY_FOR_MS });
  }

  init(): Promise<void> {
    return this.identify(async () => {
      const identity = await this.calls.initProducerId(TRANSACTION_TIMEOUT_MS);
      await this.calls.addPartitions(identity, this.options.partitions);
      await this.calls.call('EndTxn', { ...identity, transactionResult: true });
      // EndTxn returns before the markers are written, but the next InitProducerId returns after that.
      return this.calls.initProducerId(TRANSACTION_TIMEOUT_MS);
    });
  }

  append(records: Iterable<OutgoingRecord>): Promise<BaseOffsets> {
    return this.inState('ready', () => this.writer.write(RecordCollector.of(records).filled(), this.identity));
  }

  close(): Promise<void> {
    this.end();
    return Promise.resolve();
  }
}
