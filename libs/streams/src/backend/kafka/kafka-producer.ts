import { StreamsError } from '../../errors.js';
import { partitionsByTopic } from '../../protocol/bytes.js';
import { produceRequest } from '../../protocol/produce.js';
import { RecordCollector } from '../../protocol/record-collector.js';
import type { StallWatch } from '../../stalls.js';
import type { BaseOffsets, Transaction, TransactionalProducer, TransactionOffset } from '../backend.js';
import { IdentifiedProducer, type IdentifiedProducerOptions } from './identified-producer.js';
import { INVALID_TXN_STATE, isRefusal, kafkaErrorCode, NotWritten } from './kafka-errors.js';

interface ProducerOptions extends IdentifiedProducerOptions {
  readonly stalls: StallWatch;
  /** An open transaction of a dead process blocks readers until its successor fences it, or this long. */
  readonly transactionTimeoutMs: number;
  readonly onCommit?: ((transactionalId: string, durationMs: number) => void) | undefined;
}

/** Shorter than the transaction timeout, so that what was refused in the end can be aborted. */
const RETRY_FOR_MS = 10_000;

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

  init(): Promise<void> {
    return this.watched(() => this.identify(() => this.calls.initProducerId(this.options.transactionTimeoutMs)));
  }

  async commit(transaction: Transaction): Promise<BaseOffsets> {
    const { transactionalId, monotonicNow, onCommit } = this.options;
    const startedAt = monotonicNow();
    const outcome = await this.watched(() => this.inState('ready', () => this.transact(transaction)));
    if (outcome instanceof StreamsError) throw outcome;
    onCommit?.(transactionalId, monotonicNow() - startedAt);
    return outcome;
  }

  /** @returns the refusal after which everything was aborted */
  private async transact({ records, offsets = [] }: Transaction): Promise<BaseOffsets | StreamsError> {
    const outputs = RecordCollector.of(records).filled();
    const [groupId] = offsets.map((offset) => offset.groupId);
    let hasBegun = false;
    try {
      await allSettled(
        this.calls.addPartitions(this.identity, outputs),
        groupId === undefined ? Promise.resolve() : this.calls.call('AddOffsetsToTxn', { ...this.identity, groupId }),
      );
      hasBegun = true;
      const [baseOffsets] = await allSettled(
        this.writer.write(outputs, this.identity),
        groupId === undefined ? Promise.resolve() : this.writeOffsets(groupId, offsets),
      );
      await this.calls.call('EndTxn', { ...this.identity, transactionResult: true });
      return baseOffsets;
    } catch (error) {
      if (!isRefusal(error)) throw error;
      // The coordinator does not take the abort either: it still completes the transaction before.
      if (hasBegun || !(error instanceof NotWritten)) await this.abort(error);
      return error;
    }
  }

  async close(): Promise<void> {
    this.end();
    await this.options.client.close();
  }

  /**
   * After a refusal nothing is in flight, so the transaction can be ended, and readers need not wait for a successor.
   * After any other failure a late request could end up in no transaction, or in the next.
   */
  private async abort(refusal: StreamsError): Promise<void> {
    try {
      await this.calls.call('EndTxn', { ...this.identity, transactionResult: false });
    } catch (error) {
      // Nothing had been added to the transaction.
      if (kafkaErrorCode(error) === INVALID_TXN_STATE) return;
      throw new Error(`${refusal.message} The transaction could not be aborted.`, { cause: error });
    }
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

/** Like Promise.all(), but nothing is in flight any longer when it rejects, and an unknown outcome is no refusal. */
async function allSettled<First>(first: Promise<First>, second: Promise<unknown>): Promise<[First, unknown]> {
  const work = [first, second] as const;
  for (const result of await Promise.allSettled(work))
    if (result.status === 'rejected' && !isRefusal(result.reason)) throw result.reason;
  return Promise.all(work);
}
