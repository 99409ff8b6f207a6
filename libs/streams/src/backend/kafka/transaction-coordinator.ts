import { setTimeout as sleep } from 'node:timers/promises';
import { errorMessage, StreamsError } from '../../errors.js';
import { byTopic } from '../../protocol/bytes.js';
import type { CoordinatorType, KafkaClient } from './kafka-client.js';
import {
  CONCURRENT_TRANSACTIONS,
  isConnectionFailure,
  isRefusal,
  isUndone,
  kafkaErrorCode,
  parkingOr,
  reactionTo,
} from './kafka-errors.js';

/** The identity of a producer at its transaction coordinator; a later InitProducerId invalidates it. */
export interface ProducerId {
  readonly producerId: number;
  readonly producerEpoch: number;
}

interface TransactionCoordinatorOptions {
  readonly transactionalId: string;
  readonly client: KafkaClient;
  readonly monotonicNow: () => number;
}

const CONCURRENT_FIRST_WAIT_MS = 2;
const CONCURRENT_MAX_WAIT_MS = 1_000;
const RETRY_FOR_MS = 15_000;
/** The brokers are slow then, and a task that is built again would wait for the same markers. */
const CONCURRENT_FOR_MS = 60_000;

/**
 * Requests of one transactional.id to its coordinators. Coordinators are looked up once. CONCURRENT_TRANSACTIONS, the
 * response until the brokers have written all markers of the transaction before, is retried within milliseconds at first:
 * with many producers that takes seconds, and their retries would delay the markers.
 */
export class TransactionCoordinator {
  private heldUpMs = 0;

  constructor(private readonly options: TransactionCoordinatorOptions) {}

  /** Fences the predecessor and waits until its transaction has ended. */
  async initProducerId(transactionTimeoutMs: number): Promise<ProducerId> {
    const parameters = { transactionTimeout: transactionTimeoutMs };
    const answer = await this.call<{ producerId: string; producerEpoch: number }>('InitProducerId', parameters);
    return { producerId: Number(answer.producerId), producerEpoch: answer.producerEpoch };
  }

  call<T>(api: string, parameters: object): Promise<T> {
    return this.atCoordinator('transaction', this.options.transactionalId, api, parameters);
  }

  callGroup<T>(groupId: string, api: string, parameters: object): Promise<T> {
    return this.atCoordinator('group', groupId, api, parameters);
  }

  /** How long calls since the last question were refused because the transaction before was not complete; 0: none was. */
  takeHeldUpMs(): number {
    const taken = this.heldUpMs;
    this.heldUpMs = 0;
    return taken;
  }

  /**
   * Retries errors that prove that nothing happened: most often a coordinator that moved, or a transaction of the
   * predecessor that has not ended yet.
   */
  private async atCoordinator<T>(type: CoordinatorType, key: string, api: string, parameters: object): Promise<T> {
    const { transactionalId, client, monotonicNow } = this.options;
    const startedAt = monotonicNow();
    let waitMs = CONCURRENT_FIRST_WAIT_MS;
    for (;;) {
      try {
        const broker = await client.coordinator(type, key);
        return await client.call<T>(broker, api, 1, { transactionalId, ...parameters });
      } catch (error) {
        const code = kafkaErrorCode(error);
        const moved = reactionTo(code) === 'coordinator' || (isConnectionFailure(error) && api === 'InitProducerId');
        if (moved) client.forgetCoordinator(type, key);
        const isHeldUp = code === CONCURRENT_TRANSACTIONS;
        const passedMs = monotonicNow() - startedAt;
        if (isHeldUp) this.heldUpMs = Math.max(this.heldUpMs, passedMs + waitMs);
        const isOver = passedMs > (isHeldUp ? CONCURRENT_FOR_MS : RETRY_FOR_MS);
        if ((!moved && !isUndone(code)) || isOver) throw parkingOr(error, `${api} of ${key}`);
        await sleep(waitMs);
        waitMs = Math.min(waitMs * 2, CONCURRENT_MAX_WAIT_MS);
      }
    }
  }
}

/** Topics with their partitions, as AddPartitionsToTxn takes them. */
export function partitionsByTopic(
  partitions: Iterable<{ readonly topic: string; readonly partition: number }>,
): { topic: string; partitions: number[] }[] {
  return [...byTopic(partitions)].map(([topic, list]) => ({
    topic,
    partitions: list.map(({ partition }) => partition),
  }));
}

/** Whether a later producer with the same transactional.id has fenced this one. */
function isFencedError(error: unknown): boolean {
  return (
    reactionTo(kafkaErrorCode(error)) === 'fenced' ||
    (error instanceof StreamsError && error.code === 'PRODUCER_FENCED')
  );
}

/** The error of a producer's call; the producer must be closed. */
export function producerError(transactionalId: string, error: unknown): StreamsError {
  if (isRefusal(error)) return error;
  return isFencedError(error)
    ? new StreamsError('PRODUCER_FENCED', `Another producer has taken over ${transactionalId}.`, { cause: error })
    : new StreamsError(
        'PRODUCER_FAILED',
        `The producer ${transactionalId} failed and is of no further use: ${errorMessage(error)}`,
        { cause: error },
      );
}
