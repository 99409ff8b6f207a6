import { inspect } from 'node:util';
import { errorMessage, StreamsError, type StreamsErrorCode, UndecodedBatch, WaitFailed } from '../errors.js';
import type { StreamsLogger } from '../logger.js';
import { partitionName, type StreamRecord, type TopicPartition } from '../record.js';

/** Why a partition cannot continue. */
export interface ParkingReason {
  readonly code: StreamsErrorCode;
  /** The source, if a task reads several. */
  readonly topic?: string;
  /** The record at fault, or the first that cannot be decoded; null: no record is. */
  readonly offset: number | null;
  readonly message: string;
  /** Epoch ms. */
  readonly since: number;
  /** Epoch ms; null: only a command retries. */
  readonly nextRetryAt: number | null;
}

const RESULTS = ['fail', 'park', 'dead-letter'] as const;

export type ExceptionHandlerResult = (typeof RESULTS)[number];

/** Decides on a partition that cannot continue, again after each attempt. */
export type ExceptionHandler = (partition: TopicPartition, reason: ParkingReason) => ExceptionHandlerResult;

/**
 * The handlers of Kafka Streams (KIP-1034). A missing handler parks. `fail`, or a handler that throws, ends the
 * process. `dead-letter` continues after the record; if no single record is the cause, the partition is parked.
 */
export interface ExceptionHandlers {
  readonly deserializationExceptionHandler?: ExceptionHandler | undefined;
  readonly processingExceptionHandler?: ExceptionHandler | undefined;
  readonly productionExceptionHandler?: ExceptionHandler | undefined;
  /** Resolves when the record is kept; only then the position moves past it. After a crash it gets a record again. */
  readonly deadLetterQueue?:
    | ((partition: TopicPartition, record: StreamRecord, reason: ParkingReason) => Promise<void>)
    | undefined;
}

interface ParkingRule {
  readonly handler?: Exclude<keyof ExceptionHandlers, 'deadLetterQueue'>;
  /** True: the partition is retried with growing delays. Otherwise only a command retries. */
  readonly retries: boolean;
  /** A record may be the cause. */
  readonly ofRecord?: true;
  /**
   * A command may say where to continue. `input`: the log of one input lacks what its position follows, while the state
   * and the other positions are right.
   */
  readonly lost?: 'input' | 'task';
}

export const RULES: { readonly [Code in StreamsErrorCode]?: ParkingRule } = {
  CORRUPT_BATCH: { handler: 'deserializationExceptionHandler', retries: true },
  DESERIALIZATION_FAILED: { handler: 'deserializationExceptionHandler', retries: false, ofRecord: true },
  PROCESSING_FAILED: { handler: 'processingExceptionHandler', retries: false, ofRecord: true },
  PUNCTUATION_FAILED: { handler: 'processingExceptionHandler', retries: true },
  INVALID_RECORD: { handler: 'productionExceptionHandler', retries: true, ofRecord: true },
  RECORD_TOO_LARGE: { handler: 'productionExceptionHandler', retries: true, ofRecord: true },
  OFFSET_OUT_OF_RANGE: { retries: false, lost: 'input' },
  INVALID_TOPOLOGY: { retries: false, ofRecord: true },
  CODEC_MISSING: { retries: true },
  CORRUPT_STATE: { retries: true },
  TOPIC_MISSING: { retries: true },
  ACCESS_DENIED: { retries: true },
  REQUEST_REFUSED: { retries: true },
  NEWER_VERSION: { retries: true, ofRecord: true },
  POSITION_LOST: { retries: true, lost: 'task' },
  STATE_LOST: { retries: true, lost: 'task' },
  STATE_PARTLY_LOST: { retries: true, lost: 'task' },
  LOG_TRUNCATED: { retries: true, lost: 'input' },
  TASK_STUCK: { retries: true, ofRecord: true },
};

/** Returns the error that parks a partition; null: a rebuild of the task may succeed. */
export function parkingError(error: unknown, partition: TopicPartition, isStuck: boolean): StreamsError | null {
  if (error instanceof StreamsError && RULES[error.code]) return error;
  const isBug = error instanceof TypeError || error instanceof ReferenceError || error instanceof SyntaxError;
  if (!isBug && !isStuck) return null;
  return new StreamsError(
    isBug ? 'PROCESSING_FAILED' : 'TASK_STUCK',
    `The task of ${partitionName(partition)} cannot continue: ${errorMessage(error)}`,
    { cause: error },
  );
}

/** @param input what a task reads: it may also meet undecodable batches of other partitions */
export function isOfRecord(error: StreamsError, input?: TopicPartition): boolean {
  const { code, cause } = error;
  if (error instanceof UndecodedBatch) return input !== undefined && error.undecoded.partition === partitionName(input);
  // The cause is a failed wait, or the brokers.
  if (code === 'TASK_STUCK' && (cause instanceof WaitFailed || cause instanceof StreamsError)) return false;
  return RULES[code]?.ofRecord === true;
}

export function isUndecoded(code: StreamsErrorCode): boolean {
  return code === 'CORRUPT_BATCH' || code === 'CODEC_MISSING';
}

/** A handler that throws ends the process. After an unknown result, which JavaScript allows, the partition says so. */
export function verdictOn(
  reason: ParkingReason,
  partition: TopicPartition,
  handlers: ExceptionHandlers & { readonly logger: StreamsLogger },
): { readonly result: ExceptionHandlerResult; readonly reason: ParkingReason } {
  const name = RULES[reason.code]?.handler;
  if (!name || !handlers[name]) return { result: 'park', reason };
  const failed = (error: string): void =>
    handlers.logger.error('exception_handler_failed', { partition: partitionName(partition), error });
  try {
    const result = handlers[name](partition, reason);
    if (!RESULTS.includes(result)) {
      const problem = `The ${name} returned ${inspect(result)}: it must return one of ${RESULTS.join(', ')}.`;
      failed(problem);
      return { result: 'park', reason: { ...reason, message: `${reason.message} ${problem}` } };
    }
    const isInVain = result === 'dead-letter' && (reason.offset === null || !handlers.deadLetterQueue);
    return { result: isInVain ? 'park' : result, reason };
  } catch (error) {
    failed(errorMessage(error));
    return { result: 'fail', reason };
  }
}

const FIRST_RETRY_MS = 1_000;
const MAX_RETRY_MS = 5 * 60_000;

/** @param random in [0, 1): spreads the retries of partitions parked together. @returns null: no retry helps */
export function parkedForMs(code: StreamsErrorCode, retries: number, random: number): number | null {
  if (RULES[code]?.retries === false) return null;
  return Math.min(FIRST_RETRY_MS * 2 ** retries, MAX_RETRY_MS) * (1 - random / 4);
}
