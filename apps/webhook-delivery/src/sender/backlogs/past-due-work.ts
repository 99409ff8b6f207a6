import type { PastDueSubscription } from '../../metrics/past-due-metrics.js';
import type { PendingDelivery, SubscriptionBacklog } from './subscription-backlog.js';

interface PastDueWorkOptions {
  /** Whether an attempt is being made, or its result is being logged. */
  readonly isSending: (pending: PendingDelivery) => boolean;
  /** Whether a rate limit or a Retry-After keeps it waiting, not this process. */
  readonly waitsForTime: (subscriptionId: string) => boolean;
  /** Whether its events wait for earlier ones of their device. */
  readonly isStrict: (subscriptionId: string) => boolean;
  /** The monotonic clock. */
  readonly atMs: number;
}

/**
 * Yields the work of a partition that is past due. Paused, suspended, paced and strictly ordered deliveries are not:
 * they wait on purpose.
 */
export function* pastDueWork(
  backlogs: Iterable<SubscriptionBacklog>,
  { isSending, waitsForTime, isStrict, atMs }: PastDueWorkOptions,
): Iterable<PastDueSubscription> {
  for (const backlog of backlogs) {
    if (backlog.isHeld) continue;
    const { subscriptionId } = backlog;
    const firstsMayStart = !waitsForTime(subscriptionId) && !isStrict(subscriptionId);
    const pastDue = { subscriptionId, first: none(), retry: none() };
    for (const { pending } of backlog.unfinished.values()) {
      if (pending.isHeld || pending.due.monotonicMs > atMs || isSending(pending)) continue;
      const kind = pending.begun === null && pending.progress.type !== 'pending' ? 'first' : 'retry';
      if (kind === 'first' && !firstsMayStart) continue;
      pastDue[kind].count++;
      pastDue[kind].sinceMs = Math.min(pastDue[kind].sinceMs, pending.due.monotonicMs);
    }
    if (pastDue.first.count + pastDue.retry.count > 0) yield pastDue;
  }
}

function none(): { count: number; sinceMs: number } {
  return { count: 0, sinceMs: Infinity };
}
