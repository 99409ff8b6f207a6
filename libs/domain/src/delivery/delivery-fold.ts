import type { WebhookAttempt } from '../records/webhook-attempt.js';

/** Of an attempt record, what the fold needs. */
export type FoldedAttempt = Pick<WebhookAttempt, 'attempt' | 'outcome' | 'nextDueAt' | 'firstAttemptAt' | 'statusCode'>;

/** How far a delivery has come, by its attempts log. */
export type DeliveryProgress =
  | { readonly type: 'unstarted' }
  | {
      readonly type: 'pending';
      readonly nextAttempt: number;
      /** Epoch milliseconds. */
      readonly dueAt: number;
      /** Epoch milliseconds. */
      readonly firstAttemptAt: number;
      readonly unauthorizedBefore: boolean;
    }
  | { readonly type: 'finished' };

export const DELIVERY_UNSTARTED: DeliveryProgress = Object.freeze({ type: 'unstarted' });

const FINISHED: DeliveryProgress = Object.freeze({ type: 'finished' });

/**
 * Folds one attempt record into the progress of its delivery. The caller keeps the series of an event apart. A
 * record that was folded before changes nothing, so recovery may read from any offset before the first that it misses.
 */
export function deliveryFold(progress: DeliveryProgress, record: FoldedAttempt): DeliveryProgress {
  if (progress.type === 'finished') return progress;
  if (record.outcome === 'delivered' || record.outcome === 'failed') return FINISHED;
  // Of all the outcomes of a 401, only bearer auth makes it a retry.
  const unauthorized = record.statusCode === 401;
  if (progress.type === 'unstarted') return pendingAfter(record, unauthorized);
  const unauthorizedBefore = unauthorized || progress.unauthorizedBefore;
  if (record.attempt >= progress.nextAttempt) return pendingAfter(record, unauthorizedBefore);
  return unauthorizedBefore === progress.unauthorizedBefore ? progress : { ...progress, unauthorizedBefore };
}

function pendingAfter(record: FoldedAttempt, unauthorizedBefore: boolean): DeliveryProgress {
  return {
    type: 'pending',
    nextAttempt: record.attempt + 1,
    // Without a due time, due at once.
    dueAt: record.nextDueAt ?? record.firstAttemptAt,
    firstAttemptAt: record.firstAttemptAt,
    unauthorizedBefore,
  };
}
