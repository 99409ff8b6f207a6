export interface SubscriptionActivity {
  /** When the newest accepted delivery, by first attempt, was accepted. */
  readonly lastSuccessAt: number | null;
  /** First attempt of the oldest delivery begun after that and not accepted. */
  readonly unacceptedSince: number | null;
  /** Deliveries with an attempt and no end; at most MAX_COUNTED_PENDING are counted. */
  readonly pending: number;
  readonly oldestPendingAt: number | null;
}

/** Counting more would cost more than the number is worth. */
export const MAX_COUNTED_PENDING = 1_000;

/** Whether deliveries are held, and since when if that is still known. */
export interface Suspension {
  readonly isSuspended: boolean;
  readonly since: number | null;
}

export const HEALTH_STATUSES = ['healthy', 'failing', 'suspended', 'unknown'] as const;

export interface SubscriptionHealth {
  readonly status: (typeof HEALTH_STATUSES)[number];
  readonly failingSince: number | null;
  readonly suspendedSince: number | null;
  readonly lastSuccessAt: number | null;
  readonly pending: number;
  readonly oldestPendingAt: number | null;
}

/** how the deliveries of a subscription are doing. `unknown`: the history has no attempt. */
export function subscriptionHealth(activity: SubscriptionActivity, suspension: Suspension): SubscriptionHealth {
  const { lastSuccessAt, unacceptedSince, pending, oldestPendingAt } = activity;
  const { isSuspended, since } = suspension;
  const seen = { failingSince: unacceptedSince, lastSuccessAt, pending, oldestPendingAt };
  if (isSuspended) return { status: 'suspended', suspendedSince: since, ...seen };
  if (unacceptedSince !== null) return { status: 'failing', suspendedSince: null, ...seen };
  return { status: lastSuccessAt === null ? 'unknown' : 'healthy', suspendedSince: null, ...seen };
}

/** When the newest operational event of each of these types occurred. */
export interface NewestOperations {
  readonly suspended: number | null;
  readonly probed: number | null;
  readonly resumed: number | null;
}

/** a suspension may be older than the events kept: then today's failed probes still show it. */
export function suspensionOf({ suspended, probed, resumed }: NewestOperations): Suspension {
  const newest = Math.max(suspended ?? -Infinity, probed ?? -Infinity);
  if (newest === -Infinity || newest <= (resumed ?? -Infinity)) return { isSuspended: false, since: null };
  return { isSuspended: true, since: suspended !== null && suspended > (resumed ?? -Infinity) ? suspended : null };
}
