import type { FigureBucket } from '@waypost/client';

/** The parts of a column, from the bottom up. */
export const OUTCOMES = ['delivered', 'pending', 'failed'] as const;

export type Outcome = (typeof OUTCOMES)[number];

export const STEP_MS = { minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const;

export type Step = keyof typeof STEP_MS;

type Percentiles = FigureBucket['latencyMs'] | null;

/** One moment of a chart. Expired deliveries have failed as well. */
export interface Column extends Readonly<Record<Outcome, number>> {
  readonly startDate: string;
  readonly retries: number;
  readonly latencyMs: Percentiles;
  readonly retryLatenessMs: Percentiles;
}

/** Where the first of so many columns begins, of which the last one has this time. */
export function firstColumnMs(atMs: number, step: Step, columns: number): number {
  return (Math.floor(atMs / STEP_MS[step]) - columns + 1) * STEP_MS[step];
}

/** Every bucket of the window in the order of time: the API leaves out those without deliveries. */
export function columnsOf(buckets: readonly FigureBucket[], startMs: number, endMs: number, step: Step): Column[] {
  const byStart = new Map(buckets.map((bucket) => [Date.parse(bucket.startDate), bucket]));
  const columns: Column[] = [];
  const length = STEP_MS[step];
  for (let at = Math.floor(startMs / length) * length; at < endMs; at += length) {
    const { deliveries, retries, latencyMs, retryLatenessMs } = byStart.get(at) ?? {};
    const { delivered = 0, pending = 0, failed = 0, expired = 0 } = deliveries ?? {};
    columns.push({
      startDate: new Date(at).toISOString(),
      delivered,
      pending,
      failed: failed + expired,
      retries: retries ?? 0,
      latencyMs: latencyMs ?? null,
      retryLatenessMs: retryLatenessMs ?? null,
    });
  }
  return columns;
}

/** The share of what is over, 0 to 1; null: nothing is. */
export function successRate({ delivered, failed }: Pick<Column, 'delivered' | 'failed'>): number | null {
  return delivered + failed === 0 ? null : delivered / (delivered + failed);
}

export interface Totals extends Readonly<Record<Outcome, number>> {
  readonly all: number;
  readonly retries: number;
  readonly successRate: number | null;
}

export function totalsOf(columns: readonly Column[]): Totals {
  const sum = (name: Outcome | 'retries'): number => columns.reduce((total, column) => total + column[name], 0);
  const [delivered, pending, failed] = [sum('delivered'), sum('pending'), sum('failed')];
  const rate = successRate({ delivered, failed });
  return { delivered, pending, failed, all: delivered + pending + failed, retries: sum('retries'), successRate: rate };
}

export interface FailingSubscription {
  readonly subscriptionId: string;
  readonly failed: number;
  readonly all: number;
  readonly retries: number;
}

/** Those with the most failed deliveries, then with the most retries, of the totals of each subscription. */
export function worstOf(totals: readonly FigureBucket[], count: number): FailingSubscription[] {
  return totals
    .map(({ subscriptionId = '', deliveries: { delivered, pending, failed, expired }, retries }) => ({
      subscriptionId,
      failed: failed + expired,
      all: delivered + pending + failed + expired,
      retries,
    }))
    .filter(({ failed, retries }) => failed > 0 || retries > 0)
    .sort((a, b) => b.failed - a.failed || b.retries - a.retries)
    .slice(0, count);
}
