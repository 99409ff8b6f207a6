/** One attempt of one delivery with its outcome, as the schema `webhook.attempts-value` has it. */
export interface WebhookAttempt {
  readonly eventId: string;
  readonly subscriptionId: string;
  readonly fleetId: string;
  readonly deviceId: string;
  readonly eventType: string;
  /** Epoch milliseconds. */
  readonly eventTime: number;
  /** v1 | legacy-v1 */
  readonly format: string;
  readonly series: number;
  readonly replayId: string | null;
  /** Offset of the delivery in the same partition of `webhook.deliveries`. */
  readonly deliveryOffset: number;
  /** Epoch milliseconds. */
  readonly deliveryCreatedAt: number;
  /** Where this attempt went. */
  readonly url: string;
  /** 1 to MAX_ATTEMPTS. */
  readonly attempt: number;
  /** When it should have started, epoch milliseconds. */
  readonly dueAt: number;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  /** startedAt of attempt 1 of the series, epoch milliseconds. */
  readonly firstAttemptAt: number;
  readonly durationMs: number;
  readonly statusCode: number | null;
  /** An AttemptErrorCode; null when there is a status code. */
  readonly errorCode: string | null;
  readonly errorDetail: string | null;
  /** delivered | retrying | failed (AttemptDecision). */
  readonly outcome: string;
  /** Why this outcome (AttemptDecision). */
  readonly decision: string;
  /** Epoch milliseconds; only when retrying. */
  readonly nextDueAt: number | null;
  /** Only in attempt 1. */
  readonly body: string | null;
}
