import { setTimeout as sleep } from 'node:timers/promises';
import { errorMessage, StreamsError } from '../../errors.js';
import type { CoordinatorType, KafkaClient } from './kafka-client.js';
import { isConnectionFailure, isRefusal, isUndone, kafkaErrorCode, parkingOr, reactionTo } from './kafka-errors.js';

/** The identity of a producer at its transaction coordinator; a later InitProducerId invalidates it. */
export interface ProducerId {
  readonly producerId: number;
  readonly producerEpoch: number;
}

/**
 * Requests of one transactional.id to its coordinators. Coordinators are looked up once. CONCURRENT_TRANSACTIONS, the
 * response to nearly every back-to-back transaction, is retried within milliseconds.
 */
export interface TransactionCoordinator {
  /** Fences the predecessor and waits until its transaction has ended. */
  initProducerId(transactionTimeoutMs: number): Promise<ProducerId>;
  call<T>(api: string, parameters: object): Promise<T>;
  callGroup<T>(groupId: string, api: string, parameters: object): Promise<T>;
}

interface TransactionCoordinatorOptions {
  readonly transactionalId: string;
  readonly client: KafkaClient;
  readonly monotonicNow: () => number;
}

const CONCURRENT_FIRST_WAIT_MS = 2;
const CONCURRENT_MAX_WAIT_MS = 50;
const RETRY_FOR_MS = 15_000;

export function createTransactionCoordinator({
  transactionalId,
  client,
  monotonicNow,
}: TransactionCoordinatorOptions): TransactionCoordinator {
  /**
   * Retries errors that prove that nothing happened: most often a coordinator that moved, or a transaction of the
   * predecessor that has not ended yet.
   */
  const atCoordinator = async <T>(type: CoordinatorType, key: string, api: string, parameters: object): Promise<T> => {
    const deadline = monotonicNow() + RETRY_FOR_MS;
    let waitMs = CONCURRENT_FIRST_WAIT_MS;
    for (;;) {
      try {
        const broker = await client.coordinator(type, key);
        return await client.call<T>(broker, api, 1, { transactionalId, ...parameters });
      } catch (error) {
        const code = kafkaErrorCode(error);
        const moved = reactionTo(code) === 'coordinator' || (isConnectionFailure(error) && api === 'InitProducerId');
        if (moved) client.forgetCoordinator(type, key);
        if ((!moved && !isUndone(code)) || monotonicNow() > deadline) throw parkingOr(error, `${api} of ${key}`);
        await sleep(waitMs);
        waitMs = Math.min(waitMs * 2, CONCURRENT_MAX_WAIT_MS);
      }
    }
  };
  const call = <T>(api: string, parameters: object): Promise<T> =>
    atCoordinator<T>('transaction', transactionalId, api, parameters);
  return {
    initProducerId: async (transactionTimeoutMs) => {
      const answer = await call<{ producerId: string; producerEpoch: number }>('InitProducerId', {
        transactionTimeout: transactionTimeoutMs,
      });
      return { producerId: Number(answer.producerId), producerEpoch: answer.producerEpoch };
    },
    call,
    callGroup: (groupId, api, parameters) => atCoordinator('group', groupId, api, parameters),
  };
}

/** Topics with their partitions, as AddPartitionsToTxn takes them. */
export function partitionsByTopic(
  partitions: Iterable<{ readonly topic: string; readonly partition: number }>,
): { topic: string; partitions: number[] }[] {
  const byTopic = new Map<string, number[]>();
  for (const { topic, partition } of partitions) byTopic.set(topic, [...(byTopic.get(topic) ?? []), partition]);
  return [...byTopic].map(([topic, list]) => ({ topic, partitions: list }));
}

/** Whether a later producer with the same transactional.id has fenced this one. */
export function isFencedError(error: unknown): boolean {
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
