import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { createDataSource, createPageSource, type PageSource } from '@waypost/database';
import { createDeliveryFigures, createDeliveryHistory, createDeliveryProjection } from '@waypost/history-store';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/test-database.js';
import { requireTestStack } from '../../../../test/support/test-stack.js';
import { startTestApi, type TestApi } from '../testing/test-api.js';
import { attemptOf, type DeliveryPlan, NOW, SUBSCRIPTIONS } from '../testing/walked-deliveries.js';
import type { FiguresDto } from './delivery-metrics.dto.js';

const HOUR_MS = 3_600_000;
const [A = '', B = ''] = SUBSCRIPTIONS;

/** Accepted at once; accepted with the third attempt; refused; still pending. One per hour, the newest first. */
const PLANS: readonly DeliveryPlan[] = [[200], [503, null, 204], [410], [503]].map((answers, hours) => ({
  event: hours,
  series: 0,
  device: 'device-1',
  type: hours % 2 === 0 ? 'position' : 'ignition_on',
  subscription: hours < 2 ? A : B,
  firstAttemptAt: NOW - (hours + 1) * HOUR_MS,
  answers,
}));
const DAY = `startDate=${iso(NOW - 24 * HOUR_MS)}&endDate=${iso(NOW)}`;
/** The start of that window, widened to a whole bucket. */
const WIDENED = { minute: iso(NOW - 24 * HOUR_MS), hour: iso(NOW - 24 * HOUR_MS), day: '2026-06-19T00:00:00.000Z' };

let database: TestDatabase;
let dataSource: DataSource;
let pages: PageSource;
let api: TestApi;

beforeAll(async () => {
  database = await createTestDatabase(requireTestStack().databaseUrl);
  dataSource = await createDataSource(database.url).initialize();
  pages = createPageSource(database.apiUrl);
  const figures = createDeliveryFigures({ pages });
  api = await startTestApi({ now: () => NOW, figures, history: createDeliveryHistory({ pages }) });
  const projection = createDeliveryProjection({ dataSource, now: () => NOW });
  const attempts = ['acme', 'other'].flatMap((fleetId) =>
    PLANS.flatMap((plan) => plan.answers.map((_, n) => attemptOf(fleetId, plan, n + 1))),
  );
  const batch = { topic: 'attempts', partition: 0, expectedOffset: null, nextOffset: attempts.length, attempts };
  expect(await projection.apply(batch)).toMatchObject({ type: 'applied' });
});
afterAll(async () => {
  await api.close();
  await pages.close();
  await dataSource.destroy();
  await database.drop();
});

function iso(atMs: number): string {
  return new Date(atMs).toISOString();
}

async function read(query: string): Promise<FiguresDto['data']> {
  const answer = await api.request(`/public/v2/metrics?${query}`);
  expect(answer.status).toBe(200);
  return (answer.body as FiguresDto).data;
}

describe('GET /public/v2/metrics (R-41)', () => {
  it('counts deliveries, attempts and retries, with percentiles of their times', async () => {
    const day = { startDate: '2026-06-20T00:00:00.000Z' };
    expect(await read(`${DAY}&step=day`)).toEqual([
      {
        ...day,
        deliveries: { delivered: 2, failed: 1, expired: 0, pending: 1 },
        attempts: { '2xx': 2, '3xx': 0, '4xx': 1, '5xx': 2, other: 0, noResponse: 1 },
        retries: 2,
        probes: 0,
        // 20 ms, and 4,020 ms with two retries.
        latencyMs: { p50: 20, p95: expect.closeTo(4_020, -3), p99: expect.closeTo(4_020, -3) },
        retryLatenessMs: { p50: 1, p95: 1, p99: 1 },
      },
    ]);
  });

  it('counts a delivery in the hour of its first attempt, and leaves out hours without any', async () => {
    const hours = await read(DAY);
    expect(hours.map(({ startDate }) => startDate)).toEqual(
      [8, 9, 10, 11].map((hour) => iso(Date.UTC(2026, 5, 20, hour))),
    );
    expect(hours[2]).toMatchObject({ deliveries: { delivered: 1 }, retries: 2 });
    expect(hours[0]).not.toHaveProperty('latencyMs');
  });

  it.each([
    ['', 4],
    [`&subscriptionId=${A}`, 2],
    ['&eventType=position', 2],
    ['&eventType=position&eventType=ignition_on', 4],
    [`&subscriptionId=${B}&eventType=position`, 1],
    ['&eventType=geofence_in', 0],
  ])('has as many deliveries as there are events with the filter "%s"', async (filter, expected) => {
    const buckets = await read(`${DAY}&step=minute${filter}`);
    const counts = buckets.flatMap(({ deliveries }) => Object.values(deliveries));
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(expected);
    const { body } = await api.request(`/public/v2/events?${DAY}${filter}`);
    expect((body as { data: unknown[] }).data).toHaveLength(expected);
  });

  it('splits buckets by subscription or event type', async () => {
    const bySubscription = await read(`${DAY}&step=day&groupBy=subscription`);
    expect(bySubscription.map(({ subscriptionId }) => subscriptionId)).toEqual([A, B].sort());
    const byType = await read(`${DAY}&step=day&groupBy=eventType`);
    expect(byType.map(({ eventType, retries }) => [eventType, retries])).toEqual([
      ['ignition_on', 2],
      ['position', 0],
    ]);
  });

  it.each([
    ['none', 1],
    ['subscription', 2],
    ['eventType', 2],
  ])('adds up the whole window with total=true, split by %s', async (groupBy, groups) => {
    const query = `${DAY}&groupBy=${groupBy}`;
    // All of them began on one of the two days.
    const sums = await read(`${query}&step=day`);
    expect(sums).toHaveLength(groups);
    for (const [step, startDate] of Object.entries(WIDENED)) {
      const expected = sums.map((sum) => ({ ...sum, startDate }));
      expect(await read(`${query}&step=${step}&total=true`)).toEqual(expected);
    }
    expect(await read(`${query}&total=true&eventType=geofence_in`)).toEqual([]);
  });

  it('has a total where there are more buckets than a response may have', async () => {
    const limits = { sliceBytes: 1_000_000, bytes: 1_000_000, rows: 3 };
    const small = await startTestApi({ now: () => NOW, figures: createDeliveryFigures({ pages, limits }) });
    const path = `/public/v2/metrics?${DAY}&groupBy=subscription`;
    try {
      expect((await small.request(path)).status).toBe(400);
      expect((await small.request(`${path}&total=true`)).body).toMatchObject({ data: [{}, {}] });
    } finally {
      await small.close();
    }
  });

  it('shows the figures of the fleet of the key only', async () => {
    const answer = await api.request(`/public/v2/metrics?${DAY}`, { key: api.addKey('empty') });
    expect(answer.body).toEqual({ data: [] });
    const denied = await api.request(`/public/v2/metrics?${DAY}`, { key: api.addKey('acme', ['webhooks:read']) });
    expect(denied.status).toBe(403);
  });

  it.each([
    ['step', `${DAY}&step=week`],
    ['groupBy', `${DAY}&groupBy=device`],
    ['total', `${DAY}&total=1`],
    ['startDate', `endDate=${iso(NOW)}`],
    ['endDate', `startDate=${iso(NOW)}&endDate=${iso(NOW)}`],
    ['step', `startDate=${iso(NOW - 25 * HOUR_MS)}&endDate=${iso(NOW)}&step=minute`],
  ])('refuses an unusable %s', async (parameter, query) => {
    const answer = await api.request(`/public/v2/metrics?${query}`);
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ error: { code: 'invalid_parameter', details: [{ parameter }] } });
  });

  it('begins with the retention', async () => {
    expect(await read(`startDate=2020-01-01T00:00:00Z&endDate=${iso(NOW)}&step=hour`)).toHaveLength(4);
  });

  it('ends at the present, whatever the window asks', async () => {
    const window = `startDate=${iso(NOW - 23 * HOUR_MS)}&endDate=9999-12-31T00:00:00Z`;
    expect(await read(`${window}&step=minute`)).toHaveLength(4);
  });
});
