import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { createDataSource, createPageSource, type PageSource } from '@waypost/database';
import type { AttemptResult, DeliveryHistory, WebhookAttempt } from '@waypost/domain';
import { createDeliveryHistory, createDeliveryProjection, type DeliveryProjection } from '@waypost/history-store';
import { createMemoryDeliveryStore } from '@waypost/history-store/testing';
import { v2PageText } from '../../apps/public-api/src/events-v2/events-v2.page.js';
import { v1PageText } from '../../apps/public-api/src/history-v1/history-v1.page.js';
import { ok, SenderHarness, unavailable } from '../../apps/webhook-delivery/src/sender/testing/sender-harness.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { requireTestStack } from '../support/test-stack.js';
import { until } from '../support/until.js';

/** Five minutes pass in a second, the 15 s between probes in 50 ms. */
const SPEED = 300;
const PROBE_EVERY_MS = 15_000;
const EVENT_ID = '6d0c7b52-6a43-5a0e-9a0b-1f6f0f0a8a01';

let database: TestDatabase;
let dataSource: DataSource;
let pages: PageSource;
let harness: SenderHarness;

beforeAll(async () => {
  database = await createTestDatabase(requireTestStack().databaseUrl);
  dataSource = await createDataSource(database.url, { poolSize: 4 }).initialize();
  pages = createPageSource(database.apiUrl);
});
afterAll(async () => {
  await pages.close();
  await dataSource.destroy();
  await database.drop();
});
beforeEach(async () => {
  harness = await SenderHarness.create({ speed: SPEED });
  harness.subscribe('subscription-1', { onOutage: 'hold' });
});
afterEach(() => harness.stop());

async function project(projection: DeliveryProjection, log: readonly WebhookAttempt[], batch: number): Promise<void> {
  for (let from = 0; from < log.length; from += batch) {
    const attempts = log.slice(from, from + batch);
    const expectedOffset = from === 0 ? null : from;
    await projection.apply({
      topic: 'webhook.attempts',
      partition: 0,
      attempts,
      expectedOffset,
      nextOffset: from + attempts.length,
    });
  }
}

async function everything(history: DeliveryHistory) {
  const endAt = Date.now() + 86_400_000;
  const { records } = await history.findDeliveries({ fleetId: 'fleet-1', startAt: 0, endAt, limit: 100 });
  return records;
}

describe('an endpoint that is down for more than five minutes, with a kill -9 between two probes (R-24, R-29)', () => {
  it('leaves one record in the log, and one line in the history, for each probe', async () => {
    let answer: AttemptResult = unavailable;
    const requests: { eventId: string; attempt: number; startedAt: number }[] = [];
    const respond = (request: Parameters<NonNullable<Parameters<SenderHarness['start']>[0]>>[0]): AttemptResult => {
      const { delivery, attempt, started } = request;
      requests.push({ eventId: delivery.eventId, attempt, startedAt: started.epochMs });
      return answer;
    };
    harness.publish(1);
    await harness.start(respond);
    await until(async () => (await harness.attempts()).length > 0);
    // It is down since the first failure, which may come minutes after the start: a second is five minutes here.
    const downSince = harness.nowMs();
    await until(() => harness.nowMs() - downSince > 5 * 60_000);
    harness.publish(2, 'subscription-1', 'device-2', EVENT_ID);
    const ofHeld = async () => (await harness.attempts()).filter(({ eventId }) => eventId === EVENT_ID);
    await until(async () => (await ofHeld()).filter(({ probe }) => probe).length >= 3);
    // Fenced, without a chance to close.
    await harness.start(respond);
    const before = (await ofHeld()).length;
    await until(async () => (await ofHeld()).length >= before + 3);
    answer = ok;
    await until(async () => (await ofHeld()).at(-1)?.outcome === 'delivered');
    await harness.stop();

    const log = await harness.attempts();
    const held = await ofHeld();
    const attempts = held.filter(({ probe }) => !probe);
    const probes = held.filter(({ probe }) => probe);
    expect(attempts.length).toBeGreaterThanOrEqual(1);
    expect(held.map(({ attempt, startedAt: at }) => [attempt, at])).toEqual(
      requests.filter(({ eventId }) => eventId === EVENT_ID).map(({ attempt, startedAt: at }) => [attempt, at]),
    );
    expect(probes.map(({ probes: number }) => number)).toEqual(probes.map((_, index) => index + 1));
    expect(new Set(probes.map(({ attempt }) => attempt))).toEqual(new Set([attempts.length + 1]));
    expect(held.map(({ body }) => body)).toEqual(['{"n":2}', ...held.slice(1).map(() => null)]);
    for (const [index, probe] of probes.entries()) {
      const isLast = index === probes.length - 1;
      expect([probe.statusCode, probe.outcome]).toEqual(isLast ? [200, 'delivered'] : [503, 'retrying']);
      expect(probe.nextDueAt).toBe(isLast ? null : probe.startedAt + PROBE_EVERY_MS);
      const last = probes[index - 1];
      // A timer may fire a millisecond early, which is 300 here.
      if (last) expect(probe.startedAt - last.startedAt).toBeGreaterThanOrEqual(PROBE_EVERY_MS - 2 * SPEED);
    }

    await project(createDeliveryProjection({ dataSource, now: Date.now }), withUuids(log), 2);
    const rows = await everything(createDeliveryHistory({ pages }));
    const row = rows.find(({ eventId }) => eventId === EVENT_ID);
    expect(row?.attempts.map(({ probe, startedAt: at }) => [probe, at])).toEqual(
      held.map(({ probe, startedAt: at }) => [probe, at]),
    );
    const page = { records: row ? [row] : [], nextPageState: null, completeUntil: null };
    const v2 = JSON.parse(v2PageText(page, { includeBody: false })) as { data: { delivery: object }[] };
    expect(v2.data[0]?.delivery).toMatchObject({
      status: 'delivered',
      attemptCount: attempts.length,
      probeCount: probes.length,
      attempts: held.map(({ attempt, probe }) => ({ attempt, ...(probe ? { probe: true } : {}) })),
    });
    expect(JSON.parse(v1PageText(page))).toMatchObject({ events: [{ retry_count: attempts.length - 1 }] });

    const rebuilt = createMemoryDeliveryStore({ now: Date.now });
    await project(rebuilt.projection, withUuids(log), log.length);
    expect(await everything(rebuilt.history)).toEqual(rows);
  });
});

/** The other event's id is not one that the history can store. */
function withUuids(log: readonly WebhookAttempt[]): WebhookAttempt[] {
  return log.map((one) => (one.eventId === EVENT_ID ? one : { ...one, eventId: EVENT_ID.replace('6d', '7d') }));
}
