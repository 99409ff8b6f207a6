// Generated from schemas/*.avsc by "npm run codegen". Change the schema, not this file.

/** What the sender must remember about a subscription. No record means nothing special. */
export interface SubscriptionState {
  readonly subscriptionId: string;
  /** Offset of its oldest unfinished delivery while the committed offset of the partition does not wait for it. */
  readonly parkedFrom: number | null;
  /** The attempts of deliveries from parkedFrom on are at or after this offset of webhook.attempts. */
  readonly foldFrom: number | null;
  /** The end of the first failed attempt since the last accepted one (epoch milliseconds). */
  readonly failingSince: number | null;
  /** Since when its deliveries are held (R-29) (epoch milliseconds). */
  readonly suspendedAt: number | null;
  /** The last 7 days on which deliveries failed and none was accepted. */
  readonly failedDays: readonly FailedDay[];
  /** The progress of deliveries that are held, perhaps for days. It replaces the attempts from foldFrom on. */
  readonly known: KnownDeliveries | null;
  /** Epoch milliseconds. */
  readonly updatedAt: number;
}

export interface FailedDay {
  /** Days since 1970-01-01, in UTC. */
  readonly day: number;
  /** How many failed; at most 20 are counted. */
  readonly failed: number;
}

export interface KnownDeliveries {
  /** It leaves out their attempts at or after this offset of webhook.attempts. */
  readonly foldFrom: number;
  /** Deliveries from parkedFrom to this offset are finished unless they are in `unfinished`. Later ones had no attempts. */
  readonly upTo: number;
  readonly unfinished: readonly UnfinishedDelivery[];
}

export interface UnfinishedDelivery {
  /** In webhook.deliveries. */
  readonly offset: number;
  /** null: it had no attempt. */
  readonly attempted: AttemptedDelivery | null;
}

export interface AttemptedDelivery {
  /** The number of its next attempt. */
  readonly nextAttempt: number;
  /** How many there were. */
  readonly probes: number;
  /** When the next attempt is due (epoch milliseconds). */
  readonly dueAt: number;
  /** Epoch milliseconds. */
  readonly firstAttemptAt: number;
  /** One of its attempts got a 401. */
  readonly unauthorizedBefore: boolean;
}
