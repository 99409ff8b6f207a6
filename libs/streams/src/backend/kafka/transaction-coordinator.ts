import { setTimeout as sleep } from 'node:timers/promises';
import { errorMessage, StreamsError } from '../../errors.js';
import { partitionsByTopic } from '../../protocol/bytes.js';
import type { ProducerId } from '../../protocol/record-batch-encoder.js';
import { partitionName, type TopicPartition } from '../../record.js';
import type { BatchWriterOptions } from './batch-writer.js';
import {
  CONCURRENT_TRANSACTIONS,
  isConnectionFailure,
  isRefusal,
  isUndone,
  kafkaErrorCode,
  NO_ERROR,
  NotWritten,
  OPERATION_NOT_ATTEMPTED,
  parkingOr,
  reactionTo,
} from './kafka-errors.js';
import type { KafkajsBroker } from './kafkajs/kafkajs-patches.js';

interface TransactionCoordinatorOptions extends Pick<BatchWriterOptions, 'client' | 'monotonicNow'> {
  readonly transactionalId: string;
}

const CONCURRENT_FIRST_WAIT_MS = 2;
const CONCURRENT_MAX_WAIT_MS = 100;
const RETRY_FOR_MS = 10_000;
/** The limit of a successor, which has to wait for the markers. */
const CONCURRENT_FOR_MS = 60_000;
/** The limit of the next transaction: under another id, tasks need not wait for a partition that takes no marker. */
const NEXT_TRANSACTION_FOR_MS = 20_000;

/**
 * Requests of one transactional.id to its coordinators, which are looked up once. CONCURRENT_TRANSACTIONS (the previous
 * transaction's markers are not all written) is retried within milliseconds at first. With many producers the markers
 * take seconds, and frequent retries would delay them.
 */
export class TransactionCoordinator {
  constructor(private readonly options: TransactionCoordinatorOptions) {}

  async initProducerId(transactionTimeoutMs: number): Promise<ProducerId> {
    const parameters = { transactionTimeout: transactionTimeoutMs };
    const answer = await this.call<{ producerId: string; producerEpoch: number }>('InitProducerId', parameters);
    return { producerId: Number(answer.producerId), producerEpoch: answer.producerEpoch };
  }

  /** @param groupId the group whose coordinator it is for; absent: the transaction's */
  call<T>(api: string, parameters: object, groupId?: string): Promise<T> {
    const { transactionalId, client } = this.options;
    const send = (broker: KafkajsBroker) => client.call<T>(broker, api, 1, { transactionalId, ...parameters });
    return this.atCoordinator(api, send, groupId);
  }

  async addPartitions(identity: ProducerId, partitions: Iterable<TopicPartition>): Promise<void> {
    const topics = partitionsByTopic(partitions, ({ partition }) => partition);
    if (topics.length === 0) return;
    const [{ transactionalId, client }, api] = [this.options, 'AddPartitionsToTxn'];
    await this.atCoordinator(api, async (broker) =>
      refuseFailed(await client.ask<AddedPartitions>(broker, api, 1, { transactionalId, ...identity, topics })),
    );
  }

  /** Retries calls that certainly did nothing: the coordinator moved, or a predecessor's transaction was open. */
  private async atCoordinator<T>(
    api: string,
    send: (broker: KafkajsBroker) => Promise<T>,
    groupId?: string,
  ): Promise<T> {
    const { client, monotonicNow, transactionalId } = this.options;
    const type = groupId === undefined ? 'transaction' : 'group';
    const key = groupId ?? transactionalId;
    const startedAt = monotonicNow();
    for (let waitMs = CONCURRENT_FIRST_WAIT_MS; ; waitMs = Math.min(waitMs * 2, CONCURRENT_MAX_WAIT_MS)) {
      try {
        return await client.atCoordinator(type, key, send);
      } catch (error) {
        const cause = causeOf(error, api);
        const isOver = monotonicNow() - startedAt > limitMs(cause, api);
        if (cause === 'held_up' && isOver && BEGINNING.has(api)) throw new NotWritten(`${api} of ${key}`, error);
        if (cause === 'failed' || isOver) throw parkingOr(error, `${api} of ${key}`, isOver);
        await sleep(waitMs);
      }
    }
  }
}

/** Why a call may be repeated; `failed`: it may have done something, or a repetition would not help. */
function causeOf(error: unknown, api: string): 'held_up' | 'undone' | 'failed' {
  const code = kafkaErrorCode(error);
  if (code === CONCURRENT_TRANSACTIONS) return 'held_up';
  // InitProducerId may be done twice.
  const isRepeatable = isConnectionFailure(error) && api === 'InitProducerId';
  return isUndone(code) || isRepeatable ? 'undone' : 'failed';
}

/** Refused requests of the beginning of a transaction leave nothing behind. */
const BEGINNING = new Set(['AddPartitionsToTxn', 'AddOffsetsToTxn']);

function limitMs(cause: ReturnType<typeof causeOf>, api: string): number {
  if (cause !== 'held_up') return RETRY_FOR_MS;
  return BEGINNING.has(api) ? NEXT_TRANSACTION_FOR_MS : CONCURRENT_FOR_MS;
}

interface AddedPartitions {
  readonly errors: readonly {
    readonly topic: string;
    readonly partitionErrors: readonly { readonly partition: number; readonly errorCode: number }[];
  }[];
}

/** If a broker refuses one partition, it returns OPERATION_NOT_ATTEMPTED for all others. */
function refuseFailed({ errors }: AddedPartitions): void {
  const failed = errors.flatMap(({ topic, partitionErrors }) =>
    partitionErrors.flatMap(({ partition, errorCode: code }) => (code === NO_ERROR ? [] : { topic, partition, code })),
  );
  const first = failed.find(({ code }) => code !== OPERATION_NOT_ATTEMPTED) ?? failed[0];
  if (!first) return;
  const what = `Adding ${partitionName(first)} to a transaction`;
  const { code } = first;
  // If retries fail too, the error names the partition.
  throw parkingOr(Object.assign(new Error(`${what} failed with ${String(code)}.`), { code }), what, true);
}

/** The error of a producer's call; the producer must be closed. */
export function producerError(transactionalId: string, error: unknown): StreamsError {
  if (isRefusal(error)) return error;
  const wasFenced = error instanceof StreamsError && error.code === 'PRODUCER_FENCED';
  if (wasFenced || reactionTo(kafkaErrorCode(error)) === 'fenced')
    return new StreamsError('PRODUCER_FENCED', `Another producer has taken over ${transactionalId}.`, { cause: error });
  const message = `The producer ${transactionalId} failed and is of no further use: ${errorMessage(error)}`;
  return new StreamsError('PRODUCER_FAILED', message, { cause: error });
}
