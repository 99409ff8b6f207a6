import {
  DELIVERY_UNSTARTED,
  type DeliveryProgress,
  type KnownDeliveries,
  type SubscriptionState,
  type UnfinishedDelivery,
} from '@waypost/domain';
import type { Moment } from '../../process/clocks.js';
import type { PartitionBacklogs } from '../backlogs/partition-backlogs.js';
import type { SubscriptionBacklog } from '../backlogs/subscription-backlog.js';

/**
 * A held or slow backlog may wait for days, while the attempts of all others go on. Its state record therefore has the
 * progress of its deliveries: a successor folds the attempts since that record, not those since the wait began (R-25,
 *
 */

/** Whether the progress of all its deliveries is known: a predecessor may have begun some that have not been read yet. */
export function isKnown({ begunUpTo, takenUpTo }: SubscriptionBacklog): boolean {
  return begunUpTo <= takenUpTo;
}

/** @param attemptsEnd every attempt before it counts in the progress of its delivery */
export function knownDeliveries(backlog: SubscriptionBacklog, attemptsEnd: number): KnownDeliveries {
  const unfinished: UnfinishedDelivery[] = [];
  for (const [offset, { pending }] of backlog.unfinished) unfinished.push(unfinishedOf(offset, pending.progress));
  for (const [offset, { progress }] of backlog.withdrawn) unfinished.push(unfinishedOf(offset, progress));
  return { foldFrom: attemptsEnd, upTo: backlog.takenUpTo, unfinished };
}

function unfinishedOf(offset: number, progress: DeliveryProgress): UnfinishedDelivery {
  if (progress.type !== 'pending') return { offset, attempted: null };
  const { nextAttempt, probes, dueAt, firstAttemptAt, unauthorizedBefore } = progress;
  return { offset, attempted: { nextAttempt, probes, dueAt, firstAttemptAt, unauthorizedBefore } };
}

export function* progressOfKnown({ known, parkedFrom }: SubscriptionState): Iterable<[number, DeliveryProgress]> {
  for (const { offset, attempted } of known?.unfinished ?? []) {
    // Earlier deliveries have ended since the progress was written.
    if (offset < (parkedFrom ?? Infinity)) continue;
    yield [offset, attempted === null ? DELIVERY_UNSTARTED : { type: 'pending', ...attempted }];
  }
}

export interface FoldedDeliveries {
  /** The known progress, with the attempts since folded in. */
  readonly byDelivery: Map<number, DeliveryProgress>;
  readonly dueOf: (progress: DeliveryProgress) => Moment;
  readonly backlogs: Pick<PartitionBacklogs, 'withdraw'>;
}

/** Restores a backlog whose deliveries are only in the log, as if this process had withdrawn them. */
export function restoreKnown(
  backlog: SubscriptionBacklog,
  state: SubscriptionState,
  { byDelivery, dueOf, backlogs }: FoldedDeliveries,
): void {
  if (state.known === null) return;
  backlog.takenUpTo = state.known.upTo;
  backlog.finishedUpTo = state.known.upTo;
  backlog.withdrawnFoldFrom = state.foldFrom ?? 0;
  for (const [offset, before] of progressOfKnown(state)) {
    const progress = byDelivery.get(offset) ?? before;
    byDelivery.delete(offset);
    if (progress.type !== 'finished') backlogs.withdraw(backlog, offset, { progress, due: dueOf(progress) });
  }
}
