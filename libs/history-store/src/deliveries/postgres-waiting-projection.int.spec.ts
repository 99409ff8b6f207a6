import { beforeAll, describe, expect, it } from '@jest/globals';
import type { PoolClient } from 'pg';
import type { DeliveryHistory, DeliveryQuery, EventQuery, WebhookAttempt, WebhookDelivery } from '@waypost/domain';
import { useTestHistory } from '../../../../test/support/test-history.js';
import { until } from '../../../../test/support/until.js';
import { createProjectionProgress } from '../progress/projection-progress.js';
import { explainQuery } from '../sql/explain-query.js';
import { attemptsOf, NOW, uuidOf } from './attempt-samples.contract.js';
import { createDeliveryPartitions } from './delivery-partitions.js';
import { findEventSql } from './find-event-sql.js';
import { findWaitingSql } from './find-waiting-sql.js';
import { createDeliveryHistory } from './postgres-delivery-history.js';
import { createDeliveryProjection } from './postgres-delivery-projection.js';
import { createWaitingProjection } from './postgres-waiting-projection.js';

const suite = useTestHistory();

const DAY_MS = 86_400_000;
let history: DeliveryHistory;
let fleets = 0;

beforeAll(async () => {
  history = createDeliveryHistory({ pages: suite.pages });
  await createProjectionProgress(suite.dataSource).begin('webhook.attempts', 100);
  await createDeliveryPartitions(suite.dataSource).ensurePartitions(NOW - DAY_MS, NOW);
});

/** A fleet of its own with its logs, whose partition it has alone. */
function newFleet() {
  fleets += 1;
  const partition = fleets;
  const fleetId = `fleet-${String(fleets)}`;
  const waiting = createWaitingProjection({ dataSource: suite.dataSource, now: () => NOW });
  const attempted = createDeliveryProjection({ dataSource: suite.dataSource, now: () => NOW });
  const positions = { deliveries: 0, attempts: 0 };
  const batchOf = (log: 'deliveries' | 'attempts', length: number) => {
    const offset = positions[log];
    positions[log] += length + 1;
    const expectedOffset = offset === 0 ? null : offset;
    return { topic: `webhook.${log}`, partition, expectedOffset, nextOffset: positions[log], completeUntil: NOW };
  };
  const all = { fleetId, startAt: 0, endAt: NOW + DAY_MS, limit: 100 };
  return {
    fleetId,
    partition,
    deliveryOf: (name: string, given: Partial<WebhookDelivery> = {}): WebhookDelivery => ({
      ...{
        eventId: uuidOf(`${fleetId} ${name}`),
        subscriptionId: uuidOf('subscription'),
        fleetId,
        deviceId: 'device-1',
      },
      eventType: 'position',
      eventTime: NOW - 70_000,
      format: 'v1',
      body: `{"of":"${name}"}`,
      series: 0,
      createdAt: NOW - 60_000,
      replayId: null,
      ...given,
    }),
    log: async (deliveries: readonly WebhookDelivery[]) => {
      const { completeUntil: _, ...batch } = batchOf('deliveries', deliveries.length);
      return waiting.apply({ ...batch, deliveries });
    },
    attempt: (attempts: readonly WebhookAttempt[]) =>
      attempted.apply({ ...batchOf('attempts', attempts.length), attempts }),
    find: async (query: Partial<DeliveryQuery> = {}) =>
      (await history.findWaiting({ ...all, status: 'pending', ...query })).records,
    findOthers: async () => (await history.findDeliveries({ ...all, status: 'pending', withoutWaiting: true })).records,
  };
}

/** The attempts of a delivery, from a time on. */
function attemptsAt(
  of: WebhookDelivery,
  firstAttemptAt: number,
  retries: number,
  end: 'delivered' | 'open' | 'failed',
) {
  const { eventId, fleetId, series, createdAt: deliveryCreatedAt, body } = of;
  const attempts = attemptsOf({ eventId, fleetId, series, deliveryCreatedAt, firstAttemptAt }, retries, end);
  return attempts.map((attempt) => (attempt.attempt === 1 ? { ...attempt, body } : attempt));
}

describe('deliveries without an attempt (R-33)', () => {
  it('are shown with what is known of them until they end', async () => {
    const fleet = newFleet();
    const one = fleet.deliveryOf('one', { series: 2, replayId: uuidOf('replay') });
    expect(await fleet.log([one])).toEqual({ type: 'applied', waiting: 1 });
    const { subscriptionId, deviceId, eventType, eventTime, format, body, createdAt, replayId } = one;
    expect(await fleet.find()).toEqual([
      {
        eventId: one.eventId,
        series: 2,
        replayId,
        subscriptionId,
        fleetId: fleet.fleetId,
        deviceId,
        eventType,
        eventTime,
        format,
        body,
        createdAt,
        firstAttemptAt: null,
        lastAttemptAt: null,
        deliveredAt: null,
        nextAttemptAt: null,
        status: 'pending',
        statusCode: null,
        attempts: [],
      },
    ]);
    const [first, second] = attemptsAt(one, NOW - 5_000, 1, 'delivered');
    await fleet.attempt(first === undefined ? [] : [first]);
    expect(await fleet.find()).toMatchObject([{ firstAttemptAt: NOW - 5_000, status: 'pending', body }]);
    expect(await fleet.findOthers()).toEqual([]);
    await fleet.attempt(second === undefined ? [] : [second]);
    expect(await fleet.find()).toEqual([]);
    expect(
      await suite.dataSource.query('SELECT * FROM waiting_deliveries WHERE fleet_id = $1', [fleet.fleetId]),
    ).toEqual([]);
  });

  it.each(['delivered', 'open', 'failed'] as const)(
    'are not among them if the attempts came first, and are %s',
    async (end) => {
      const fleet = newFleet();
      const [one, other] = [fleet.deliveryOf('one'), fleet.deliveryOf('other')];
      await fleet.attempt(attemptsAt(one, NOW - 59_000, end === 'open' ? 1 : 0, end));
      expect(await fleet.log([one, other])).toEqual({ type: 'applied', waiting: 1 });
      expect((await fleet.find()).map(({ eventId }) => eventId)).toEqual([other.eventId]);
    },
  );

  it('are in the window in which they were created, and in that of their first attempt', async () => {
    const fleet = newFleet();
    const one = fleet.deliveryOf('one');
    await fleet.log([one]);
    const created = { startAt: one.createdAt, endAt: one.createdAt + 1 };
    const attempted = { startAt: NOW - 5_000, endAt: NOW - 4_999 };
    const between = { startAt: created.endAt, endAt: attempted.startAt };
    const found = () =>
      Promise.all([created, between, attempted].map(async (window) => (await fleet.find(window)).length));
    expect(await found()).toEqual([1, 0, 0]);
    await fleet.attempt(attemptsAt(one, NOW - 5_000, 1, 'open'));
    expect(await found()).toEqual([1, 0, 1]);
  });

  it('are not among them if the first attempt was made by a clock that is an hour behind', async () => {
    const fleet = newFleet();
    const one = fleet.deliveryOf('one');
    await fleet.attempt(attemptsAt(one, one.createdAt - 3_599_000, 1, 'open'));
    expect(await fleet.log([one])).toEqual({ type: 'applied', waiting: 0 });
  });

  it('end when the log repeats their first attempt', async () => {
    const fleet = newFleet();
    const one = fleet.deliveryOf('one');
    await fleet.log([one]);
    const [first, ...others] = attemptsAt(one, NOW - 5_000, 1, 'delivered');
    if (first === undefined) throw new Error('Nothing was made.');
    await fleet.attempt([first]);
    await fleet.attempt([first, ...others]);
    expect(
      await suite.dataSource.query('SELECT * FROM waiting_deliveries WHERE fleet_id = $1', [fleet.fleetId]),
    ).toEqual([]);
  });

  it('end like all others when they expire or are refused without a request', async () => {
    const fleet = newFleet();
    const old = fleet.deliveryOf('old', { createdAt: NOW - 15 * DAY_MS });
    const refused = fleet.deliveryOf('refused');
    await fleet.log([old, refused]);
    const ends = [old, refused].flatMap((one, index) =>
      attemptsAt(one, NOW - 1_000, 0, 'failed').map((attempt) => ({
        ...attempt,
        ...(index === 0 ? { outcome: 'expired', errorCode: 'expired' } : { errorCode: 'subscription_disabled' }),
      })),
    );
    await fleet.attempt(ends);
    expect(await fleet.find()).toEqual([]);
  });

  it('are not stored when their day is beyond the retention: their attempts are not there either', async () => {
    const fleet = newFleet();
    const result = await fleet.log([fleet.deliveryOf('old', { createdAt: NOW - 17 * DAY_MS })]);
    expect(result).toEqual({ type: 'applied', waiting: 0 });
  });

  it('are stored once, and by the one whose position is the stored one', async () => {
    const fleet = newFleet();
    await fleet.log([fleet.deliveryOf('one')]);
    await fleet.log([fleet.deliveryOf('one')]);
    expect(await fleet.find()).toHaveLength(1);
    const rival = createWaitingProjection({ dataSource: suite.dataSource, now: () => NOW });
    const batch = { topic: 'webhook.deliveries', partition: fleet.partition, expectedOffset: 1, nextOffset: 9 };
    expect(await rival.apply({ ...batch, deliveries: [fleet.deliveryOf('two')] })).toMatchObject({
      type: 'superseded',
    });
    expect(await fleet.find()).toHaveLength(1);
  });

  it('are never left behind by an end that is projected at the same moment', async () => {
    const fleet = newFleet();
    const one = fleet.deliveryOf('one');
    const runner = suite.dataSource.createQueryRunner();
    const client = (await runner.connect()) as PoolClient;
    // As a batch of attempts that is not committed yet.
    await client.query('BEGIN');
    await client.query('UPDATE delivery_progress SET complete_until = now() WHERE partition = $1', [fleet.partition]);
    await client.query(
      `INSERT INTO deliveries (event_id, first_attempt_at, last_attempt_at, event_time, created_at, series, status_code,
         last_attempt, fleet_id, device_id, subscription_id, event_type, format, status, url, body, attempts)
       VALUES ($1, $2, $2, $2, $2, 0, 200, 1, $3, 'd', 's', 'position', 'v1', 'delivered', 'https://x.example', '{}', '[]')`,
      [one.eventId, new Date(NOW - 30_000).toISOString(), fleet.fleetId],
    );
    const logged = fleet.log([one]);
    await until(async () => {
      const rows: unknown[] = await suite.dataSource.query(
        `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      );
      return rows.length > 0;
    });
    await client.query('COMMIT');
    await runner.release();
    expect(await logged).toEqual({ type: 'applied', waiting: 0 });
    expect(await fleet.find()).toEqual([]);
  });

  it('are found by every filter, in both orders, page by page', async () => {
    const fleet = newFleet();
    const deliveries = Array.from({ length: 12 }, (_, index) =>
      fleet.deliveryOf(String(index), {
        createdAt: NOW - DAY_MS - 6 + Math.floor(index / 2),
        deviceId: `device-${String(index % 3)}`,
        eventType: ['position', 'ignition_on'][index % 2] ?? 'position',
        subscriptionId: uuidOf(`subscription ${String(index % 4)}`),
      }),
    );
    await fleet.log(deliveries);
    const inOrder = deliveries.toSorted((a, b) => a.createdAt - b.createdAt || (a.eventId < b.eventId ? -1 : 1));
    const cases: [Partial<DeliveryQuery>, (one: WebhookDelivery) => boolean][] = [
      [{}, () => true],
      [{ deviceId: 'device-1' }, ({ deviceId }) => deviceId === 'device-1'],
      [{ eventTypes: ['ignition_on', 'x'] }, ({ eventType }) => eventType === 'ignition_on'],
      [{ subscriptionId: uuidOf('subscription 2') }, (one) => one.subscriptionId === uuidOf('subscription 2')],
      // What a portal session may see.
      [
        { subscriptionIds: [1, 3].map((number) => uuidOf(`subscription ${String(number)}`)) },
        (one) => [1, 3].some((number) => one.subscriptionId === uuidOf(`subscription ${String(number)}`)),
      ],
      [{ subscriptionIds: [] }, () => false],
      [{ eventId: deliveries[3]?.eventId }, ({ eventId }) => eventId === deliveries[3]?.eventId],
      [
        { startAt: NOW - DAY_MS - 4, endAt: NOW - DAY_MS - 2 },
        ({ createdAt: at }) => at - NOW + DAY_MS >= -4 && at - NOW + DAY_MS < -2,
      ],
      [{ status: 'failed' }, () => false],
      [{ statusCode: 500 }, () => false],
      [{ eventId: 'no uuid' }, () => false],
    ];
    for (const [filter, matches] of cases) {
      for (const order of ['asc', 'desc'] as const) {
        const expected = inOrder.filter(matches).map(({ eventId }) => eventId);
        const seen: string[] = [];
        for (let after: DeliveryQuery['after']; ;) {
          const [next] = await fleet.find({ ...filter, order, after, limit: 1 });
          if (next === undefined) break;
          seen.push(next.eventId);
          after = { firstAttemptAt: next.createdAt, eventId: next.eventId, series: next.series };
        }
        expect(seen).toEqual(order === 'asc' ? expected : expected.toReversed());
      }
    }
  });

  it('cost what their window has, however much has waited since before it (R-34)', async () => {
    const fleet = newFleet();
    const before = Array.from({ length: 2_000 }, (_, index) =>
      fleet.deliveryOf(`before ${String(index)}`, { createdAt: NOW - DAY_MS }),
    );
    const [attempted] = before;
    if (attempted === undefined) throw new Error('There are thousands.');
    const inWindow = fleet.deliveryOf('in the window');
    await fleet.log([...before, inWindow]);
    await fleet.attempt(attemptsAt(attempted, NOW - 5_000, 1, 'open'));
    for (const order of ['asc', 'desc'] as const) {
      const query = { fleetId: fleet.fleetId, startAt: NOW - 3_600_000, endAt: NOW, limit: 100, order };
      const found = await fleet.find(query);
      expect(found.map(({ eventId }) => eventId).sort()).toEqual([attempted.eventId, inWindow.eventId].sort());
      const sql = findWaitingSql(query, 1_000_000);
      const plan = sql === null ? [] : await explainQuery(suite.pages, query.fleetId, sql);
      const rowsOf = (node: (typeof plan)[number]): number =>
        (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'];
      expect(Math.max(...plan.map(rowsOf))).toBeLessThan(10);
    }
  });

  it.each([
    ['the index of their fleet', {}, 'waiting_deliveries_by_fleet'],
    ['the primary key, of one event', { eventId: uuidOf('event') }, 'waiting_deliveries_pkey'],
  ])('are read by %s', async (_, filter: Partial<DeliveryQuery>, index) => {
    const query = { fleetId: 'fleet', startAt: 0, endAt: NOW, limit: 10, status: 'pending' as const, ...filter };
    const sql = findWaitingSql(query, 1_000_000);
    const plan = sql === null ? [] : await explainQuery(suite.pages, query.fleetId, sql);
    const indexes = plan.map((node) => node['Index Name']).filter((name) => name?.startsWith('waiting_'));
    // The primary key also finds what was first attempted in the window.
    expect([...new Set([...indexes, 'waiting_deliveries_pkey'])].sort()).toEqual(
      [...new Set([index, 'waiting_deliveries_pkey'])].sort(),
    );
    expect(plan.map((node) => node['Node Type'])).not.toContain('Seq Scan');
  });
});

describe('the deliveries of an event (R-33)', () => {
  it('are in one page with those that wait, each as it is now, for those who may see them', async () => {
    const fleet = newFleet();
    const [first, second, third] = [0, 1, 2].map((series) => fleet.deliveryOf('one', { series }));
    if (first === undefined || second === undefined || third === undefined) throw new Error('There are three.');
    await fleet.log([first, second, third, fleet.deliveryOf('other')]);
    await fleet.attempt(attemptsAt(first, NOW - 5_000, 0, 'delivered'));
    await fleet.attempt(attemptsAt(second, NOW - 4_000, 1, 'open'));
    const read = (query: Partial<EventQuery> = {}) =>
      history.findEvent({ fleetId: fleet.fleetId, eventId: first.eventId, startAt: 0, limit: 10, ...query });
    expect((await read()).records).toMatchObject([
      { series: 0, firstAttemptAt: NOW - 5_000, status: 'delivered' },
      { series: 1, firstAttemptAt: NOW - 4_000, status: 'pending' },
      { series: 2, firstAttemptAt: null, status: 'pending', attempts: [] },
    ]);
    const seriesOf = async (query: Partial<EventQuery>) => (await read(query)).records.map(({ series }) => series);
    expect(await seriesOf({ afterSeries: 0 })).toEqual([1, 2]);
    expect(await read({ limit: 1 })).toMatchObject({ records: [{ series: 0 }], hasMore: true });
    expect(await seriesOf({ startAt: NOW - 4_500 })).toEqual([1]);
    expect(await seriesOf({ subscriptionIds: [first.subscriptionId] })).toEqual([0, 1, 2]);
    expect(await seriesOf({ subscriptionIds: [] })).toEqual([]);
    expect(await seriesOf({ fleetId: 'another' })).toEqual([]);
    expect(await seriesOf({ eventId: 'no uuid' })).toEqual([]);
  });

  it('are read by the primary keys', async () => {
    const query = { fleetId: 'fleet', eventId: uuidOf('event'), startAt: 0, limit: 10, subscriptionIds: ['a'] };
    const sql = findEventSql(query, 1_000_000);
    const plan = sql === null ? [] : await explainQuery(suite.pages, query.fleetId, sql);
    const indexes = plan.flatMap((node) => node['Index Name'] ?? []);
    expect([...new Set(indexes)].sort()).toEqual(['deliveries_pkey', 'waiting_deliveries_pkey']);
    expect(plan.map((node) => node['Node Type'])).not.toContain('Seq Scan');
  });
});
