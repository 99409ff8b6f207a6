import { StreamsError } from '../../errors.js';
import type { StreamsLogger } from '../../logger.js';
import { type RecordBuffer, RecordCollector } from '../../protocol/record-collector.js';
import type { StallWatch } from '../../stalls.js';
import type { BaseOffsets, Transaction, TransactionalProducer, TransactionOffset } from '../backend.js';
import { BatchWriter, createTransactionalProduce } from './batch-writer.js';
import type { KafkaClient } from './kafka-client.js';
import { isRefusal } from './kafka-errors.js';
import {
  createTransactionCoordinator,
  isFencedError,
  partitionsByTopic,
  producerError,
  type ProducerId,
  type TransactionCoordinator,
} from './transaction-coordinator.js';

interface ProducerOptions {
  readonly transactionalId: string;
  readonly client: KafkaClient;
  readonly logger: StreamsLogger;
  readonly stalls: StallWatch;
  readonly now: () => number;
  readonly monotonicNow: () => number;
  /** An open transaction of a dead process blocks readers until its successor fences it, or this long. */
  readonly transactionTimeoutMs: number;
  /** Bytes of one record batch; below the topic's max.message.bytes. */
  readonly maxBatchBytes: number;
}

const RETRY_FOR_MS = 15_000;

/**
 * Transactions over kafkajs's connections. One commit is at most four steps: add partitions and offsets to the
 * transaction, write the records and the offsets, end it.
 */
export class KafkaProducer implements TransactionalProducer {
  private readonly machine;
  private readonly calls: TransactionCoordinator;
  private readonly writer: BatchWriter;
  private identity: ProducerId = { producerId: -1, producerEpoch: -1 };
  heldUpMs = 0;

  constructor(private readonly options: ProducerOptions) {
    this.machine = createTransactionStateMachine(options.transactionalId);
    this.calls = createTransactionCoordinator(options);
    this.writer = new BatchWriter({
      ...options,
      produce: createTransactionalProduce(options.client, options.transactionalId),
      isTransactional: true,
      retryForMs: RETRY_FOR_MS,
      repeatsUnanswered: false,
    });
  }

  async init(): Promise<void> {
    this.machine.moveTo('initializing');
    await this.orDie(async () => {
      this.identity = await this.calls.initProducerId(this.options.transactionTimeoutMs);
      this.calls.takeHeldUpMs();
      this.machine.moveTo('idle');
    });
  }

  async commit({ records, offset }: Transaction): Promise<BaseOffsets> {
    this.machine.moveTo('open');
    return this.orDie(async () => {
      const outputs = RecordCollector.of(records, this.options.maxBatchBytes).filled();
      await this.openTransaction(outputs, offset);
      const writing = [
        this.writer.write(outputs, this.identity),
        offset ? this.writeOffset(offset) : Promise.resolve(),
      ] as const;
      const [baseOffsets] = await Promise.all(writing).catch((error: unknown) => this.abort(writing, error));
      this.machine.moveTo('committing');
      await this.calls.call('EndTxn', { ...this.identity, transactionResult: true });
      this.machine.moveTo('idle');
      return baseOffsets;
    });
  }

  async close(): Promise<void> {
    if (this.machine.state !== 'closed') this.machine.moveTo('closed');
    await this.options.client.close();
  }

  /**
   * After a refusal nothing is under way, so the transaction can be ended: its readers need not wait for a successor.
   * After any other failure a late request would be part of no transaction, or of the next.
   */
  private async abort(writing: readonly unknown[], error: unknown): Promise<never> {
    await Promise.allSettled(writing);
    if (isRefusal(error))
      await this.calls.call('EndTxn', { ...this.identity, transactionResult: false }).catch(() => undefined);
    throw error;
  }

  private async orDie<T>(work: () => Promise<T>): Promise<T> {
    const { transactionalId, stalls } = this.options;
    const goesOn = stalls.begin('transaction', transactionalId, 'The brokers do not complete it.');
    try {
      return await work();
    } catch (error) {
      if (this.machine.state !== 'closed') this.machine.moveTo(isFencedError(error) ? 'fenced' : 'failed');
      throw producerError(transactionalId, error);
    } finally {
      goesOn();
    }
  }

  private async openTransaction(
    outputs: readonly RecordBuffer[],
    offset: TransactionOffset | undefined,
  ): Promise<void> {
    const topics = partitionsByTopic(outputs);
    await Promise.all([
      topics.length > 0 && this.calls.call('AddPartitionsToTxn', { ...this.identity, topics }),
      offset && this.calls.call('AddOffsetsToTxn', { ...this.identity, groupId: offset.groupId }),
    ]);
    this.heldUpMs = this.calls.takeHeldUpMs();
  }

  private async writeOffset(offset: TransactionOffset): Promise<void> {
    const { groupId, topic, partition, metadata } = offset;
    await this.calls.callGroup(groupId, 'TxnOffsetCommit', {
      ...this.identity,
      groupId,
      topics: [{ topic, partitions: [{ partition, offset: offset.offset, metadata: metadata ?? '' }] }],
    });
  }
}

/**
 * The life of a transactional producer. `fenced` and `failed` are final: a producer is never used again after any
 * failure, because neither its sequence numbers nor the outcome of its transaction are known any more.
 */
type TransactionState = 'new' | 'initializing' | 'idle' | 'open' | 'committing' | 'fenced' | 'failed' | 'closed';

const LEGAL_MOVES: Readonly<Record<TransactionState, readonly TransactionState[]>> = {
  new: ['initializing', 'closed'],
  initializing: ['idle', 'fenced', 'failed', 'closed'],
  idle: ['open', 'closed'],
  open: ['committing', 'fenced', 'failed', 'closed'],
  committing: ['idle', 'fenced', 'failed', 'closed'],
  fenced: ['closed'],
  failed: ['closed'],
  closed: [],
};

interface TransactionStateMachine {
  readonly state: TransactionState;
  /** @throws StreamsError ILLEGAL_TRANSACTION_MOVE */
  moveTo(next: TransactionState): void;
}

function createTransactionStateMachine(transactionalId: string): TransactionStateMachine {
  let state: TransactionState = 'new';
  return {
    get state() {
      return state;
    },
    moveTo(next) {
      if (!LEGAL_MOVES[state].includes(next)) {
        throw new StreamsError(
          'ILLEGAL_TRANSACTION_MOVE',
          `The producer ${transactionalId} cannot go from ${state} to ${next}: close it and make another.`,
        );
      }
      state = next;
    },
  };
}
