import type { FigureBucket } from '@waypost/client';

export interface DayFigures {
  readonly delivered: number;
  readonly pending: number;
  readonly failed: number;
}

/** Figures by subscription; an expired delivery has failed as well. */
export function dayFiguresOf(buckets: readonly FigureBucket[]): ReadonlyMap<string, DayFigures> {
  const found = new Map<string, DayFigures>();
  for (const { subscriptionId = '', deliveries } of buckets) {
    const known = found.get(subscriptionId) ?? { delivered: 0, pending: 0, failed: 0 };
    found.set(subscriptionId, {
      delivered: known.delivered + deliveries.delivered,
      pending: known.pending + deliveries.pending,
      failed: known.failed + deliveries.failed + deliveries.expired,
    });
  }
  return found;
}
