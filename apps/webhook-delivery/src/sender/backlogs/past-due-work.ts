import type { PastDueSubscription } from '../../metrics/past-due-metrics.js';
import type { PendingDelivery, SubscriptionBacklog } from './subscription-backlog.js';

interface PastDueWorkOptions {
  /** An attempt is being made, or its result is being logged. */
  readonly isSending: (pending: PendingDelivery) => boolean;
  /** Its rate or a Retry-After keeps it back, not this process. */
  readonly waitsForTime: (subscriptionId: string) => boolean;
  /** Its events wait for earlier ones of their device. */
  readonly isStrict: (subscriptionId: string) => boolean;
  /** The monotonic clock. */
  readonly atMs: number;
}

/**
 * The work of a partition that is past due. What is paused, suspended, paced or in order behind another delivery is not:
 * it waits because someone wants it to.
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
