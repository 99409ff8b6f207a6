import { partitionsByTopic } from '../../protocol/bytes.js';
import { produceRequest } from '../../protocol/produce.js';
import { RecordCollector } from '../../protocol/record-collector.js';
import type { StallWatch } from '../../stalls.js';
import type { BaseOffsets, Transaction, TransactionalProducer, TransactionOffset } from '../backend.js';
import { IdentifiedProducer, type IdentifiedProducerOptions } from './identified-producer.js';
import { isRefusal } from './kafka-errors.js';

interface ProducerOptions extends IdentifiedProducerOptions {
  readonly stalls: StallWatch;
  /** An open transaction of a dead process blocks readers until its successor fences it, or this long. */
  readonly transactionTimeoutMs: number;
  readonly onCommit?: ((transactionalId: string, durationMs: number) => void) | undefined;
}

const RETRY_FOR_MS = 15_000;

/**
 * Transactions over kafkajs's connections. A commit takes at most four steps: add partitions and offsets to the
 * transaction, write the records and the offsets, end it.
 */
export class KafkaProducer extends IdentifiedProducer implements TransactionalProducer {
  constructor(private readonly options: ProducerOptions) {
    const { client, transactionalId } = options;
    super(options, {
      produce: (leader, batches) => client.callRaw(leader, produceRequest(transactionalId, batches)),
      isTransactional: true,
      retryForMs: RETRY_FOR_MS,
    });
  }

  get heldUpMs(): number {
    return this.calls.heldUpMs;
  }

  init(): Promise<void> {
    return this.watched(() => this.identify(() => this.calls.initProducerId(this.options.transactionTimeoutMs)));
  }

  async commit(transaction: Transaction): Promise<BaseOffsets> {
    const { transactionalId, monotonicNow, onCommit } = this.options;
    const startedAt = monotonicNow();
    const baseOffsets = await this.watched(() => this.inState('ready', () => this.transact(transaction)));
    onCommit?.(transactionalId, monotonicNow() - startedAt);
    return baseOffsets;
  }

  private async transact({ records, offsets = [] }: Transaction): Promise<BaseOffsets> {
    const outputs = RecordCollector.of(records).filled();
    const [groupId] = offsets.map((offset) => offset.groupId);
    this.calls.heldUpMs = 0;
    await Promise.all([
      this.calls.addPartitions(this.identity, outputs),
      groupId !== undefined && this.calls.call('AddOffsetsToTxn', { ...this.identity, groupId }),
    ]);
    const writing = [
      this.writer.write(outputs, this.identity),
      groupId === undefined ? Promise.resolve() : this.writeOffsets(groupId, offsets),
    ] as const;
    const [baseOffsets] = await Promise.all(writing).catch((error: unknown) => this.abort(writing, error));
    await this.calls.call('EndTxn', { ...this.identity, transactionResult: true });
    return baseOffsets;
  }

  async close(): Promise<void> {
    this.end();
    await this.options.client.close();
  }

  /**
   * After a refusal nothing is in flight, so the transaction can be ended, and readers need not wait for a successor.
   * After any other failure a late request could end up in no transaction, or in the next.
   */
  private async abort(writing: readonly unknown[], error: unknown): Promise<never> {
    await Promise.allSettled(writing);
    if (isRefusal(error))
      await this.calls.call('EndTxn', { ...this.identity, transactionResult: false }).catch(() => undefined);
    throw error;
  }

  private async watched<T>(work: () => Promise<T>): Promise<T> {
    const { transactionalId, stalls } = this.options;
    const goesOn = stalls.begin('transaction', transactionalId, 'The brokers do not complete it.');
    try {
      return await work();
    } finally {
      goesOn();
    }
  }

  private async writeOffsets(groupId: string, offsets: readonly TransactionOffset[]): Promise<void> {
    const topics = partitionsByTopic(offsets, ({ partition, offset, metadata = '' }) => ({
      partition,
      offset,
      metadata,
    }));
    await this.calls.call('TxnOffsetCommit', { ...this.identity, groupId, topics }, groupId);
  }
}
