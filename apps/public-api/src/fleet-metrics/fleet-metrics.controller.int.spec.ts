import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { formatCredential } from '@waypost/domain';
import { createDeliveryFigures, createDeliveryHistory, createDeliveryProjection } from '@waypost/history-store';
import { useTestHistory } from '../../../../test/support/test-history.js';
import type { FiguresDto } from '../delivery-metrics/delivery-metrics.dto.js';
import { startTestApi, type TestAnswer, type TestApi } from '../testing/test-api.js';
import { attemptOf, type DeliveryPlan, NOW, SUBSCRIPTIONS } from '../testing/walked-deliveries.js';
import type { FleetTotalsDto } from './fleet-metrics.dto.js';

const ADMIN = formatCredential('adminKey', Buffer.alloc(32, 1));
const HOUR_MS = 3_600_000;
const DAY = `startDate=${iso(NOW - 24 * HOUR_MS)}&endDate=${iso(NOW)}`;
const suite = useTestHistory();
let api: TestApi;

/** Of each fleet what its deliveries were answered, one per hour, the newest first. */
const FLEETS: Readonly<Record<string, readonly DeliveryPlan['answers'][]>> = {
  calm: [[200], [200], [200]],
  failing: [[200], [410], [410]],
  retried: [[503, null, 204], [503]],
  quiet: [[200]],
};
const PATHS = [`/public/v2/fleets/metrics?${DAY}`, `/public/v2/fleets/totals?${DAY}`] as const;

function iso(atMs: number): string {
  return new Date(atMs).toISOString();
}

beforeAll(async () => {
  const attempts = Object.entries(FLEETS).flatMap(([fleetId, deliveries], fleet) =>
    deliveries.flatMap((answers, hours) => {
      const plan = {
        event: fleet * 10 + hours,
        series: 0,
        device: 'device-1',
        type: 'position',
        subscription: SUBSCRIPTIONS[hours % 2] ?? '',
        firstAttemptAt: NOW - (hours + 1) * HOUR_MS,
        answers,
      } as const;
      return answers.map((_, n) => attemptOf(fleetId, plan, n + 1));
    }),
  );
  const projection = createDeliveryProjection({ dataSource: suite.dataSource, now: () => NOW });
  const batch = { topic: 'attempts', partition: 0, expectedOffset: null, nextOffset: attempts.length, attempts };
  expect(await projection.apply(batch)).toMatchObject({ type: 'applied' });
  const { pages } = suite;
  api = await startTestApi({
    now: () => NOW,
    adminKeyHashes: [createHash('sha256').update(ADMIN).digest()],
    figures: createDeliveryFigures({ pages }),
    history: createDeliveryHistory({ pages }),
  });
});
afterAll(() => api.close());

function read(path: string): Promise<TestAnswer> {
  return api.request(path, { key: ADMIN });
}

describe('figures of all fleets for an operator (R-37, R-41)', () => {
  it('count the deliveries of all fleets over time', async () => {
    const { status, body } = await read(PATHS[0]);
    expect(status).toBe(200);
    const { data } = body as FiguresDto;
    expect(data.map(({ startDate, deliveries }) => [startDate, deliveries])).toEqual([
      ['2026-06-20T09:00:00.000Z', { delivered: 1, failed: 1, expired: 0, pending: 0 }],
      ['2026-06-20T10:00:00.000Z', { delivered: 1, failed: 1, expired: 0, pending: 1 }],
      ['2026-06-20T11:00:00.000Z', { delivered: 4, failed: 0, expired: 0, pending: 0 }],
    ]);
    expect(data[2]).toMatchObject({ attempts: { '2xx': 4, '5xx': 1, noResponse: 1 }, retries: 2 });
    expect(data[0]).not.toHaveProperty('subscriptionId');
  });

  it('count those of each fleet over the window, the worst fleets first: failed, then retried, then busy ones', async () => {
    const { body } = await read(PATHS[1]);
    const { data, fleets } = body as FleetTotalsDto;
    expect(fleets).toBe(4);
    expect(data.map(({ fleetId, deliveries, retries }) => [fleetId, deliveries, retries])).toEqual([
      ['failing', { delivered: 1, failed: 2, expired: 0, pending: 0 }, 0],
      ['retried', { delivered: 1, failed: 0, expired: 0, pending: 1 }, 2],
      ['calm', { delivered: 3, failed: 0, expired: 0, pending: 0 }, 0],
      ['quiet', { delivered: 1, failed: 0, expired: 0, pending: 0 }, 0],
    ]);
    expect(data[1]).toMatchObject({ latencyMs: { p50: expect.any(Number) }, retryLatenessMs: { p50: 1 } });
  });

  it('are those of the window, and of as many fleets as were asked for', async () => {
    const window = `startDate=${iso(NOW - 1.5 * HOUR_MS)}&endDate=${iso(NOW)}&step=minute`;
    const { body } = await read(`/public/v2/fleets/totals?${window}&limit=1`);
    expect(body).toMatchObject({ data: [{ fleetId: 'retried', deliveries: { delivered: 1 } }], fleets: 4 });
    const future = `startDate=${iso(NOW + HOUR_MS)}&endDate=${iso(NOW + 2 * HOUR_MS)}`;
    expect((await read(`/public/v2/fleets/totals?${future}`)).body).toEqual({ data: [], fleets: 0 });
    expect((await read(`/public/v2/fleets/metrics?${future}`)).body).toEqual({ data: [] });
  });

  it('are what each fleet has for itself', async () => {
    const { body } = await read(PATHS[1]);
    for (const { fleetId, deliveries, retries } of (body as FleetTotalsDto).data) {
      const own = await api.request(`/public/v2/metrics?${DAY}&step=day`, { key: api.addKey(fleetId) });
      expect(own.body).toMatchObject({ data: [{ deliveries, retries }] });
    }
  });

  it.each(PATHS)('are refused to the key of a fleet: %s', async (path) => {
    expect((await api.request(path)).status).toBe(403);
  });

  it.each([
    ['step', 'fleets/metrics', `${DAY}&step=week`],
    ['endDate', 'fleets/totals', `startDate=${iso(NOW)}&endDate=${iso(NOW)}`],
    ['step', 'fleets/totals', `startDate=${iso(NOW - 25 * HOUR_MS)}&endDate=${iso(NOW)}&step=minute`],
    ['limit', 'fleets/totals', `${DAY}&limit=1001`],
    ['groupBy', 'fleets/metrics', `${DAY}&groupBy=fleet`],
  ])('refuse an unusable %s of %s', async (parameter, path, query) => {
    const { status, body } = await read(`/public/v2/${path}?${query}`);
    expect(status).toBe(400);
    expect(body).toMatchObject({ error: { details: [{ parameter }] } });
  });
});
