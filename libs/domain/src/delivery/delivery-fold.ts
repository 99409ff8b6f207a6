import type { WebhookAttempt } from '../records/webhook-attempt.js';

export type FoldedAttempt = Pick<
  WebhookAttempt,
  'attempt' | 'probe' | 'probes' | 'outcome' | 'nextDueAt' | 'firstAttemptAt' | 'statusCode'
>;

export type DeliveryProgress =
  | { readonly type: 'unstarted' }
  | {
      readonly type: 'pending';
      readonly nextAttempt: number;
      readonly probes: number;
      readonly dueAt: number;
      readonly firstAttemptAt: number;
      readonly unauthorizedBefore: boolean;
    }
  | { readonly type: 'finished' };

export const DELIVERY_UNSTARTED: DeliveryProgress = Object.freeze({ type: 'unstarted' });

const FINAL_OUTCOMES: ReadonlySet<string> = new Set(['delivered', 'failed', 'expired']);

const FINISHED: DeliveryProgress = Object.freeze({ type: 'finished' });

/** Numbers the records of a delivery from 1; attempts and probes count together. */
export function recordNumber({ attempt, probe, probes }: Pick<WebhookAttempt, 'attempt' | 'probe' | 'probes'>): number {
  return attempt + probes - (probe ? 1 : 0);
}

/** folding a record again changes nothing, so recovery may begin at any earlier offset. The caller separates the series. */
export function deliveryFold(progress: DeliveryProgress, record: FoldedAttempt): DeliveryProgress {
  if (progress.type === 'finished') return progress;
  if (FINAL_OUTCOMES.has(record.outcome)) return FINISHED;
  // A 401 leads to a retry only with bearer auth.
  const unauthorized = record.statusCode === 401;
  if (progress.type === 'unstarted') return pendingAfter(record, unauthorized);
  const unauthorizedBefore = unauthorized || progress.unauthorizedBefore;
  if (recordNumber(record) >= progress.nextAttempt + progress.probes) return pendingAfter(record, unauthorizedBefore);
  return unauthorizedBefore === progress.unauthorizedBefore ? progress : { ...progress, unauthorizedBefore };
}

function pendingAfter(record: FoldedAttempt, unauthorizedBefore: boolean): DeliveryProgress {
  return {
    type: 'pending',
    nextAttempt: record.probe ? record.attempt : record.attempt + 1,
    probes: record.probes,
    dueAt: record.nextDueAt ?? record.firstAttemptAt,
    firstAttemptAt: record.firstAttemptAt,
    unauthorizedBefore,
  };
}
