import { expect } from '@jest/globals';
import { recordNumber, type WebhookAttempt } from '@waypost/domain';
import type { FigureRow } from './delivery-figures.js';
import { DURATION_ERROR, percentiles } from './duration-histogram.js';
import type { SummedFigures } from './figures.js';
import type { FiguresQuery } from './figures-sql.js';

const STEP_MS = { minute: 60_000, hour: 3_600_000, day: 86_400_000 };
const GROUPS = {
  none: () => '',
  subscription: ({ subscriptionId }: WebhookAttempt) => subscriptionId,
  eventType: ({ eventType }: WebhookAttempt) => eventType,
  fleet: ({ fleetId }: WebhookAttempt) => fleetId,
};

/** What the figures of a log must be, straight from its records. */
function foldOf(log: readonly WebhookAttempt[], { step, groupBy }: Pick<FiguresQuery, 'step' | 'groupBy'>) {
  const deliveries = new Map<string, WebhookAttempt[]>();
  for (const attempt of log) {
    const key = `${attempt.eventId} ${String(attempt.series)}`;
    const known = deliveries.get(key) ?? [];
    if (known.length === 0 && attempt.body === null) continue;
    if (known.every((other) => recordNumber(other) < recordNumber(attempt))) deliveries.set(key, [...known, attempt]);
  }
  const rows = new Map<string, WebhookAttempt[][]>();
  for (const delivery of deliveries.values()) {
    const [first] = delivery;
    if (first === undefined) continue;
    const startAt = Math.floor(first.firstAttemptAt / STEP_MS[step]) * STEP_MS[step];
    const key = JSON.stringify([startAt, GROUPS[groupBy](first)]);
    rows.set(key, [...(rows.get(key) ?? []), delivery]);
  }
  return new Map([...rows].map(([key, of]) => [key, summaryOf(of)]));
}

function summaryOf(deliveries: readonly WebhookAttempt[][]) {
  const ends = deliveries.flatMap((delivery) => delivery.at(-1) ?? []);
  const ended = (outcome: string) => ends.filter((end) => end.outcome === outcome);
  const records = deliveries.flat();
  const probes = records.filter(({ probe }) => probe);
  const sent = records.filter(
    ({ probe, decision }) => !probe && !['expired', 'subscription_disabled'].includes(decision),
  );
  const retries = sent.filter(({ attempt }) => attempt > 1);
  const classed = (from: number) =>
    sent.filter(({ statusCode: c }) => c !== null && c >= from && c < from + 100).length;
  return {
    started: deliveries.length,
    delivered: ended('delivered').length,
    failed: ended('failed').length,
    expired: ended('expired').length,
    retries: retries.length,
    probes: probes.length,
    attempts: [...[200, 300, 400, 500].map(classed), 0, sent.filter(({ statusCode }) => statusCode === null).length],
    latency: ended('delivered').map((end) => end.startedAt + end.durationMs - end.deliveryCreatedAt),
    retryLateness: retries.map(({ startedAt, dueAt }) => startedAt - dueAt),
  };
}

/** Checks that rows match the counts of the log, percentiles within their error. */
export function expectFigures(
  rows: readonly FigureRow[],
  log: readonly WebhookAttempt[],
  query: Pick<FiguresQuery, 'step' | 'groupBy'>,
) {
  const expected = foldOf(log, query);
  const found = new Map(rows.map(({ startAt, group, figures }) => [JSON.stringify([startAt, group]), figures]));
  expect([...found.keys()].sort()).toEqual([...expected.keys()].sort());
  for (const [key, { latency, retryLateness, ...counts }] of expected) {
    const { latency: latencies, retryLateness: latenesses, ...others } = found.get(key) as SummedFigures;
    expect(others).toEqual(counts);
    expectPercentiles(latencies, latency);
    expectPercentiles(latenesses, retryLateness);
  }
}

function expectPercentiles(counts: SummedFigures['latency'], durations: readonly number[]): void {
  const sorted = durations.toSorted((a, b) => a - b);
  const parts = [0.01, 0.5, 0.95, 0.99, 1];
  const found = percentiles(counts, parts);
  for (const [index, part] of parts.entries()) {
    const exact = sorted[Math.ceil(part * sorted.length) - 1];
    const value = found[index];
    if (exact === undefined) expect(value).toBeNull();
    // Whole milliseconds, and nothing below one.
    else
      expect(Math.abs(Number(value) - Math.max(1, exact))).toBeLessThanOrEqual(
        Math.max(1, exact) * DURATION_ERROR + 0.5,
      );
  }
}
