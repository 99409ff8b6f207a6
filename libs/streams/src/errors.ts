/** Why the runtime failed; the README lists the fix for each. */
export type StreamsErrorCode =
  | 'KAFKAJS_VERSION'
  | 'CODEC_MISSING'
  | 'INVALID_TOPOLOGY'
  | 'TOPIC_MISSING'
  | 'PARTITIONS_DIFFER'
  | 'TOPIC_SETTINGS'
  | 'OFFSET_OUT_OF_RANGE'
  | 'INSTANCE_FENCED'
  | 'GROUP_REFUSED'
  | 'ACCESS_DENIED'
  | 'REQUEST_REFUSED'
  | 'PRODUCER_FENCED'
  | 'PRODUCER_FAILED'
  | 'BROKER_UNAVAILABLE'
  | 'TASK_STUCK'
  | 'DESERIALIZATION_FAILED'
  | 'PROCESSING_FAILED'
  | 'PUNCTUATION_FAILED'
  | 'RECORD_TOO_LARGE'
  | 'INVALID_RECORD'
  | 'CORRUPT_BATCH'
  | 'CORRUPT_STATE'
  | 'NEWER_VERSION'
  | 'POSITION_LOST'
  | 'STATE_LOST'
  | 'STATE_PARTLY_LOST'
  | 'LOG_TRUNCATED'
  | 'PROTOCOL';

/** An error of the stream runtime; `code` is stable, `cause` is the error of Kafka or the network. */
export class StreamsError extends Error {
  override readonly name = 'StreamsError';
  /** The offset of the input record at fault, if known. */
  readonly offset: number | null;

  constructor(
    readonly code: StreamsErrorCode,
    message: string,
    options: { readonly cause?: unknown; readonly offset?: number | undefined } = {},
  ) {
    super(message, options);
    this.offset = options.offset ?? null;
  }
}

export class LogTruncated extends StreamsError {
  /** @param topic the source that has lost records; the task may have others */
  constructor(
    readonly topic: string,
    message: string,
  ) {
    super('LOG_TRUNCATED', message);
  }
}

interface UndecodedRecords {
  /** In the format of `partitionName`. */
  readonly partition: string;
  readonly offset: number;
  /** From the batch's header, which may be damaged as well. */
  readonly nextOffset: number;
  readonly timestamp: number;
}

export class UndecodedBatch extends StreamsError {
  constructor(
    code: 'CORRUPT_BATCH' | 'CODEC_MISSING',
    message: string,
    readonly undecoded: UndecodedRecords,
    cause: unknown,
  ) {
    super(code, message, { cause, offset: undecoded.offset });
  }

  static codeOf(error: unknown): 'CORRUPT_BATCH' | 'CODEC_MISSING' {
    return error instanceof StreamsError && error.code === 'CODEC_MISSING' ? error.code : 'CORRUPT_BATCH';
  }
}

/**
 * A callback failed while waiting for something else. No record is the cause, whatever the error (the TypeError of a
 * failed fetch() is no bug), and a later try may succeed.
 */
export class WaitFailed extends Error {
  static of(what: string, error: unknown): Error {
    if (error instanceof StreamsError) return error;
    return new WaitFailed(`${what} rejected: ${errorMessage(error)}`, { cause: error });
  }
}

export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

export function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
