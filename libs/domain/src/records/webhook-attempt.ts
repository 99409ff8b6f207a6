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
  /** 0: the first sending; n: the n-th replay. */
  readonly series: number;
  readonly replayId: string | null;
  /** Offset of the delivery in the same partition of webhook.deliveries. */
  readonly deliveryOffset: number;
  /** The createdAt of the delivery (epoch milliseconds). */
  readonly deliveryCreatedAt: number;
  /** Where this attempt was sent. */
  readonly url: string;
  /** 1 to 5. For a probe: the number of the attempt that it replaces without using it up. */
  readonly attempt: number;
  /** When this attempt should have started (epoch milliseconds). */
  readonly dueAt: number;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  /** The startedAt of the first record of the series (epoch milliseconds). */
  readonly firstAttemptAt: number;
  /** From the start to the response or the error. */
  readonly durationMs: number;
  /** Of the response; null: there was none. */
  readonly statusCode: number | null;
  /** Why there is no status code, or why the response was not accepted. */
  readonly errorCode: string | null;
  /** The same in words. */
  readonly errorDetail: string | null;
  /** delivered | retrying | failed | expired */
  readonly outcome: string;
  /** Why it has this outcome, e.g. accepted, temporary_status, permanent_status, attempts_exhausted. */
  readonly decision: string;
  /** Only when the outcome is retrying. For a probe: when the next probe is due (epoch milliseconds). */
  readonly nextDueAt: number | null;
  /** The body that was sent; only in the first record of the series. */
  readonly body: string | null;
  /** Whether this is a probe of a suspended subscription, which does not count as one of the 5 attempts. */
  readonly probe: boolean;
  /** Probes of the series so far, including this one. */
  readonly probes: number;
  /** How long after the end of this attempt no first attempt of the subscription may start: the Retry-After of the response, at most 15 s. */
  readonly retryAfterMs: number | null;
  /** Up to 1 KiB of the body of a response that did not accept: what arrived together with the headers. */
  readonly responseBody: string | null;
}
