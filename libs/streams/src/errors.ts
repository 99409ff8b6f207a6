/** Every way in which the runtime gives up, each with what to do about it. */
export type StreamsErrorCode =
  | 'KAFKAJS_VERSION'
  | 'INVALID_TOPOLOGY'
  | 'TOPIC_MISSING'
  | 'PARTITIONS_DIFFER'
  | 'OFFSET_OUT_OF_RANGE'
  | 'INSTANCE_FENCED'
  | 'GROUP_REFUSED'
  | 'ACCESS_DENIED'
  | 'PRODUCER_FENCED'
  | 'PRODUCER_FAILED'
  | 'ILLEGAL_TRANSACTION_MOVE'
  | 'BROKER_UNAVAILABLE'
  | 'TASK_STUCK'
  | 'CORRUPT_BATCH'
  | 'CORRUPT_STATE'
  | 'PROTOCOL';

/** An error of the stream runtime; `code` is stable, `cause` is what Kafka or the network said. */
export class StreamsError extends Error {
  override readonly name = 'StreamsError';

  constructor(
    readonly code: StreamsErrorCode,
    message: string,
    options?: { cause?: unknown },
  ) {
    super(message, options);
  }
}

export const errorMessage = (error: unknown): string => (error instanceof Error ? error.message : String(error));
