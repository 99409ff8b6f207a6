// Generated from schemas/*.avsc by "npm run codegen". Change the schema, not this file.

/** One attempt of one delivery, or one probe, with its outcome. */
export interface WebhookAttempt {
  /** UUIDv5. */
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
  /** Offset of the delivery in the same partition of webhook.deliveries. */
  readonly deliveryOffset: number;
  /** Epoch milliseconds. */
  readonly deliveryCreatedAt: number;
  /** Where this attempt went. */
  readonly url: string;
  /** 1 to 5. Of a probe: the attempt that it was made in place of, and does not use up. */
  readonly attempt: number;
  /** When this attempt should have started (epoch milliseconds). */
  readonly dueAt: number;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  /** startedAt of the first record of the series (epoch milliseconds). */
  readonly firstAttemptAt: number;
  readonly durationMs: number;
  readonly statusCode: number | null;
  /** Why there is no status code, or why the attempt was refused. */
  readonly errorCode: string | null;
  readonly errorDetail: string | null;
  /** delivered | retrying | failed | expired */
  readonly outcome: string;
  /** Why this outcome, e.g. accepted, temporary_status, permanent_status, attempts_exhausted. */
  readonly decision: string;
  /** Only when retrying. Of a probe: when the next probe is due (epoch milliseconds). */
  readonly nextDueAt: number | null;
  /** Only in the first record of the series. */
  readonly body: string | null;
  /** A probe of a suspended subscription: not one of the 5 attempts. */
  readonly probe: boolean;
  /** Probes of the series so far, this one included. */
  readonly probes: number;
  /** For how long after its end no first attempt of the subscription may start: the Retry-After of the response, 15 s at most. */
  readonly retryAfterMs: number | null;
  /** The beginning of the body of a response that did not accept, as far as it came with the headers: at most 1 KiB. */
  readonly responseBody: string | null;
}
