import { type AttemptEntry, type DeliveryRecord, formatTime } from '@waypost/domain';

/** A delivery as v2 shows it. */
export interface V2Event {
  readonly eventId: string;
  readonly eventType: string;
  readonly eventTime: string;
  readonly deviceId: string;
  readonly subscriptionId: string;
  readonly format: string;
  /** The JSON that was pushed, in the format of the subscription. */
  readonly payload: unknown;
  /** Only on request: the exact text that was pushed. */
  readonly body?: string;
  readonly delivery: V2Delivery;
}

export interface V2Delivery {
  readonly status: DeliveryRecord['status'];
  readonly statusCode?: number;
  readonly attemptCount: number;
  readonly firstAttemptAt: string;
  readonly lastAttemptAt: string;
  readonly nextAttemptAt?: string;
  readonly attempts: readonly V2Attempt[];
}

export interface V2Attempt {
  readonly attempt: number;
  readonly startedAt: string;
  readonly durationMs: number;
  readonly statusCode?: number;
  readonly error?: string;
}

export function toV2Event(delivery: DeliveryRecord, { includeBody }: { includeBody: boolean }): V2Event {
  return {
    eventId: delivery.eventId,
    eventType: delivery.eventType,
    eventTime: formatTime(delivery.eventTime),
    deviceId: delivery.deviceId,
    subscriptionId: delivery.subscriptionId,
    format: delivery.format,
    payload: JSON.parse(delivery.body),
    ...(includeBody ? { body: delivery.body } : {}),
    delivery: {
      status: delivery.status,
      ...(delivery.statusCode === null ? {} : { statusCode: delivery.statusCode }),
      attemptCount: delivery.attempts.length,
      firstAttemptAt: formatTime(delivery.firstAttemptAt),
      lastAttemptAt: formatTime(delivery.lastAttemptAt),
      ...(delivery.nextAttemptAt === null ? {} : { nextAttemptAt: formatTime(delivery.nextAttemptAt) }),
      attempts: delivery.attempts.map(toV2Attempt),
    },
  };
}

function toV2Attempt(attempt: AttemptEntry): V2Attempt {
  return {
    attempt: attempt.attempt,
    startedAt: formatTime(attempt.startedAt),
    durationMs: attempt.durationMs,
    ...(attempt.statusCode === null ? {} : { statusCode: attempt.statusCode }),
    ...(attempt.errorCode === null ? {} : { error: attempt.errorCode }),
  };
}
