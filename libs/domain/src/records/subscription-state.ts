// Generated from schemas/*.avsc by "npm run codegen". Change the schema, not this file.

/** What the sender must not forget about a subscription. No record: nothing special. */
export interface SubscriptionState {
  readonly subscriptionId: string;
  /** Offset of its lowest unfinished delivery while it is left out of the committed position of the partition. */
  readonly parkedFrom: number | null;
  /** Every attempt of a delivery from parkedFrom on lies at or after this offset of webhook.attempts. */
  readonly foldFrom: number | null;
  /** End of the first failed attempt since the last accepted one (epoch milliseconds). */
  readonly failingSince: number | null;
  /** Since when deliveries are held (R-29) (epoch milliseconds). */
  readonly suspendedAt: number | null;
  /** The last 7 days with deliveries that failed, none of them accepted. */
  readonly failedDays: readonly FailedDay[];
  /** The progress of deliveries that are held, perhaps for days, in place of the attempts from foldFrom on. */
  readonly known: KnownDeliveries | null;
  /** Epoch milliseconds. */
  readonly updatedAt: number;
}

export interface FailedDay {
  /** In UTC, since 1970-01-01. */
  readonly day: number;
  /** At most 20 are counted. */
  readonly failed: number;
}

export interface KnownDeliveries {
  /** Their attempts at or after this offset of webhook.attempts are not in it. */
  readonly foldFrom: number;
  /** From parkedFrom to this offset, what is not in `unfinished` is finished. What comes after it had no attempts. */
  readonly upTo: number;
  readonly unfinished: readonly UnfinishedDelivery[];
}

export interface UnfinishedDelivery {
  readonly offset: number;
  /** Null: without an attempt. */
  readonly attempted: AttemptedDelivery | null;
}

export interface AttemptedDelivery {
  readonly nextAttempt: number;
  /** So far. */
  readonly probes: number;
  /** Epoch milliseconds. */
  readonly dueAt: number;
  /** Epoch milliseconds. */
  readonly firstAttemptAt: number;
  /** An attempt of it met a 401. */
  readonly unauthorizedBefore: boolean;
}
