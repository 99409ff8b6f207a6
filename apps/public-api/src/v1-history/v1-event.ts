import { type AttemptEntry, type DeliveryRecord, formatTime } from '@waypost/domain';

/** A delivery as v1 shows it. */
export interface V1Event {
  readonly event_id: string;
  readonly event_type: string;
  readonly event_time: string;
  readonly device_id: string;
  readonly subscription_id: string;
  readonly url: string;
  /** Of the last attempt; absent when that had none. */
  readonly status_code?: number;
  /** The exact text that was sent. */
  readonly body: string;
  readonly retry_count: number;
  readonly created_at: string;
  readonly last_attempt_at: string;
  readonly delivered_at?: string;
  readonly attempts: readonly V1Attempt[];
}

export interface V1Attempt {
  readonly attempt: number;
  readonly started_at: string;
  readonly duration_ms: number;
  readonly status_code?: number;
  readonly error?: string;
}

export function toV1Event(delivery: DeliveryRecord): V1Event {
  return {
    event_id: delivery.eventId,
    event_type: delivery.eventType,
    event_time: formatTime(delivery.eventTime),
    device_id: delivery.deviceId,
    subscription_id: delivery.subscriptionId,
    url: delivery.url,
    ...(delivery.statusCode === null ? {} : { status_code: delivery.statusCode }),
    body: delivery.body,
    retry_count: delivery.attempts.length - 1,
    created_at: formatTime(delivery.createdAt),
    last_attempt_at: formatTime(delivery.lastAttemptAt),
    ...(delivery.deliveredAt === null ? {} : { delivered_at: formatTime(delivery.deliveredAt) }),
    attempts: delivery.attempts.map(toV1Attempt),
  };
}

function toV1Attempt(attempt: AttemptEntry): V1Attempt {
  return {
    attempt: attempt.attempt,
    started_at: formatTime(attempt.startedAt),
    duration_ms: attempt.durationMs,
    ...(attempt.statusCode === null ? {} : { status_code: attempt.statusCode }),
    ...(attempt.errorCode === null ? {} : { error: attempt.errorCode }),
  };
}
