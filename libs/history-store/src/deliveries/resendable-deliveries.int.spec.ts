import { beforeAll, describe, expect, it } from '@jest/globals';
import { useTestHistory } from '../../../../test/support/test-history.js';
import { explainQuery } from '../sql/explain-query.js';
import { NOW, uuidOf } from './attempt-samples.contract.js';
import { createDeliveryPartitions } from './delivery-partitions.js';
import { createWaitingPartitions } from './postgres-waiting-projection.js';
import {
  createResendableDeliveries,
  type ResendableCount,
  type ResendableQuery,
  resendableSql,
} from './resendable-deliveries.js';

const suite = useTestHistory();

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const OWN = uuidOf('own');

interface Row {
  readonly event: string;
  readonly hoursAgo: number;
  readonly status: 'delivered' | 'failed' | 'pending';
  readonly series?: number;
  readonly code?: number;
  readonly device?: string;
  readonly type?: string;
  readonly subscription?: string;
  readonly fleetId?: string;
}

/** Within the window unless an hour says otherwise: [NOW - 10 h, NOW). */
const ROWS: readonly Row[] = [
  { event: 'accepted', hoursAgo: 1, status: 'delivered', code: 200 },
  { event: 'accepted of another device', hoursAgo: 2, status: 'delivered', code: 204, device: 'van-2' },
  { event: 'refused', hoursAgo: 2, status: 'failed', code: 422 },
  { event: 'refused, then sent again', hoursAgo: 3, status: 'failed', code: 422 },
  { event: 'refused, then sent again', hoursAgo: 1, status: 'delivered', code: 200, series: 1 },
  { event: 'refused twice', hoursAgo: 4, status: 'failed', code: 422 },
  { event: 'refused twice', hoursAgo: 1, status: 'failed', code: 503, series: 2 },
  { event: 'before the window, sent again in it', hoursAgo: 12, status: 'failed', code: 422 },
  { event: 'before the window, sent again in it', hoursAgo: 1, status: 'failed', code: 422, series: 1 },
  { event: 'at its start', hoursAgo: 10, status: 'pending', code: 503 },
  { event: 'at its end', hoursAgo: 0, status: 'failed', code: 422 },
  { event: 'a test', hoursAgo: 1, status: 'failed', code: 422, type: 'test' },
  { event: 'of another subscription', hoursAgo: 1, status: 'failed', code: 422, subscription: 'other' },
  { event: 'of another fleet', hoursAgo: 1, status: 'failed', code: 422, fleetId: 'other' },
];

beforeAll(async () => {
  await createDeliveryPartitions(suite.dataSource).ensurePartitions(NOW - 15 * DAY_MS, NOW);
  await createWaitingPartitions(suite.dataSource).ensurePartitions(NOW - 15 * DAY_MS, NOW);
  for (const row of ROWS) await insert(row);
});

async function insert(row: Row): Promise<void> {
  const { event, hoursAgo, status, series = 0, code = null, device = 'van-1', type = 'position' } = row;
  const at = new Date(NOW - hoursAgo * HOUR_MS);
  const { subscription = 'own', fleetId = 'acme' } = row;
  await suite.dataSource.query(
    `INSERT INTO deliveries (event_id, first_attempt_at, last_attempt_at, event_time, created_at, series, status_code,
       last_attempt, fleet_id, device_id, subscription_id, event_type, format, status, url, body, attempts)
     VALUES (md5($1)::uuid, $2, $2, $2, $2, $3, $4, 1, $5, $6, $7, $8, 'v1', $9, 'https://x.example/', '{}', '[]')`,
    [event, at, series, code, fleetId, device, uuidOf(subscription), type, status],
  );
}

/** Rows of a replay that has written it, of a subscription that `ROWS` does not have. */
async function insertWaiting(event: string, series: number, subscription: string): Promise<void> {
  await suite.dataSource.query(
    `INSERT INTO waiting_deliveries (event_id, series, created_at, event_time, fleet_id, device_id, subscription_id, event_type,
       format, replay_id, body)
     VALUES (md5($1)::uuid, $2, $3, $3, 'acme', 'van-1', $4, 'position', 'v1', 'r-1', '{}')`,
    [event, series, new Date(NOW - HOUR_MS), uuidOf(subscription)],
  );
}

async function insertMany(row: Omit<Row, 'event'>, rows: number): Promise<void> {
  const { hoursAgo, status, series = 0, device = 'van-1', subscription = 'own' } = row;
  await suite.dataSource.query(
    `INSERT INTO deliveries (event_id, first_attempt_at, last_attempt_at, event_time, created_at, series, status_code,
       last_attempt, fleet_id, device_id, subscription_id, event_type, format, status, url, body, attempts)
     SELECT md5($1 || n)::uuid, $2, $2, $2, $2, $3, 200, 1, 'acme', $4, $5, 'position', 'v1', $6, 'https://x.example/', '{}', '[]'
       FROM generate_series(1, $7::integer) AS n`,
    [
      `${subscription} ${status} ${device}`,
      new Date(NOW - hoursAgo * HOUR_MS),
      series,
      device,
      uuidOf(subscription),
      status,
      rows,
    ],
  );
}

function asked(more: Partial<ResendableQuery>): ResendableQuery {
  const window = { startAt: NOW - 10 * HOUR_MS, endAt: NOW };
  const limits = { most: 100, mostRead: 1_000, mostLookedUp: 1_000 };
  return { fleetId: 'acme', subscriptionId: OWN, ...window, replayedFrom: NOW - 4 * HOUR_MS, ...limits, ...more };
}

function count(more: Partial<ResendableQuery>): Promise<ResendableCount> {
  return createResendableDeliveries({ pages: suite.pages }).count(asked(more));
}

/** Rows that are read from tables, by index. */
async function rowsRead(more: Partial<ResendableQuery>): Promise<Readonly<Record<string, number>>> {
  const plan = await explainQuery(suite.pages, 'acme', resendableSql(asked(more)));
  const read: Record<string, number> = {};
  for (const node of plan) {
    if (node['Relation Name'] === undefined) continue;
    const index = node['Index Name'] ?? node['Node Type'];
    const rows = (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'];
    read[index] = (read[index] ?? 0) + rows;
  }
  return read;
}

describe('what a replay would send (R-30)', () => {
  it.each<[string, Partial<ResendableQuery>, number]>([
    ['all first deliveries of the window but tests', {}, 6],
    ['with a status: those whose latest series has it', { status: 'failed' }, 2],
    ['also where a replay has made it so', { status: 'delivered' }, 3],
    ['also those that wait for a retry', { status: 'pending' }, 1],
    ['with a code: those whose latest series ended with it', { statusCode: 422 }, 1],
    ['also where only the latest series has it', { statusCode: 503 }, 2],
    ['with both', { status: 'failed', statusCode: 503 }, 1],
    ['of a device', { deviceId: 'van-2' }, 1],
    ['of a device with a status', { deviceId: 'van-1', status: 'delivered' }, 2],
    ['of a device with a code', { deviceId: 'van-1', statusCode: 204 }, 0],
    ['of a device with both', { deviceId: 'van-1', status: 'failed', statusCode: 422 }, 1],
    ['nothing of another fleet', { fleetId: 'other', deviceId: 'van-2' }, 0],
  ])('is %s', async (_, filters, deliveries) => {
    expect(await count(filters)).toEqual({ deliveries, hasMore: false });
  });

  it('goes by the first series where there was no replay', async () => {
    expect(await count({ subscriptionId: uuidOf('other'), status: 'failed', replayedFrom: null })).toEqual({
      deliveries: 1,
      hasMore: false,
    });
  });

  it('is counted no further than asked', async () => {
    expect(await count({ most: 3 })).toEqual({ deliveries: 3, hasMore: true });
    expect(await count({ most: 6 })).toEqual({ deliveries: 6, hasMore: false });
  });
});

describe('what a replay would send of what another has sent again after the window (R-30)', () => {
  const subscription = 'replayed later';
  const ofYesterday = {
    subscriptionId: uuidOf(subscription),
    startAt: NOW - 31 * HOUR_MS,
    endAt: NOW - 29 * HOUR_MS,
  };
  const first = { hoursAgo: 30, status: 'failed', code: 422, subscription } as const;
  const again = { hoursAgo: 2, status: 'failed', code: 503, subscription } as const;

  beforeAll(async () => {
    const events = ['refused again', 'accepted later', 'refused later', 'written', 'written again', 'attempted once'];
    for (const event of events) await insert({ event, ...first });
    await insert({ event: 'accepted first', ...first, status: 'delivered', code: 200 });
    await insert({ event: 'refused again', ...again, series: 1 });
    await insert({ event: 'refused again', ...again, hoursAgo: 1, series: 2 });
    await insert({ event: 'accepted later', ...again, status: 'delivered', code: 200, series: 1 });
    await insert({ event: 'refused later', ...again, series: 1 });
    await insert({ event: 'accepted first', ...again, series: 1 });
    await insert({ event: 'written again', ...again, series: 1 });
    await insert({ event: 'attempted once', ...again, status: 'pending', series: 1 });
    await insertWaiting('written', 1, subscription);
    await insertWaiting('written again', 2, subscription);
    // Until it ends.
    await insertWaiting('attempted once', 1, subscription);
    await insertWaiting('of today', 0, subscription);
  });

  it.each<[string, Partial<ResendableQuery>, number]>([
    ['everything', {}, 7],
    ['what failed again, and what failed only then', { status: 'failed' }, 3],
    ['what was accepted then', { status: 'delivered' }, 1],
    ['as pending, what was written and not attempted, and what waits for a retry', { status: 'pending' }, 3],
    ['by the code that it got then', { statusCode: 503 }, 4],
    ['nothing by the code that it had before', { statusCode: 422 }, 0],
    ['by the code of a retry that is to come', { status: 'pending', statusCode: 503 }, 1],
    ['of its device', { status: 'pending', deviceId: 'van-1' }, 3],
    ['nothing of another device', { status: 'pending', deviceId: 'van-2' }, 0],
  ])('counts %s', async (_, filters, deliveries) => {
    expect(await count({ ...ofYesterday, ...filters })).toEqual({ deliveries, hasMore: false });
  });

  it('goes by what was sent again although the clock of its sender is almost an hour behind', async () => {
    const event = 'accepted by a slow clock';
    await insert({ event, ...first, subscription: event });
    await insert({ event, ...again, status: 'delivered', code: 200, series: 1, hoursAgo: 4.9, subscription: event });
    const query = { ...ofYesterday, subscriptionId: uuidOf(event), replayedFrom: NOW - 4 * HOUR_MS };
    expect(await count({ ...query, status: 'delivered' })).toEqual({ deliveries: 1, hasMore: false });
    expect(await count({ ...query, status: 'failed' })).toEqual({ deliveries: 0, hasMore: false });
  });

  it('is a lower bound where too much has failed since', async () => {
    await insertMany({ hoursAgo: 3, status: 'failed', subscription }, 2_000);
    // Found are those whose first sending failed, too.
    expect(await count({ ...ofYesterday, status: 'failed' })).toEqual({ deliveries: 2, hasMore: true });
  });
});

describe('the cost of a count', () => {
  it('is what it counts, from the index by subscription', async () => {
    await insertMany({ hoursAgo: 1, status: 'delivered', subscription: 'busy' }, 5_000);
    const read = await rowsRead({ subscriptionId: uuidOf('busy'), most: 1_000 });
    expect(Object.keys(read)).toEqual(['deliveries_by_subscription']);
    expect(read['deliveries_by_subscription']).toBeLessThanOrEqual(1_001);
  });

  it('has a bound where nothing that is read counts, and it says so', async () => {
    await insertMany({ hoursAgo: 1, status: 'delivered', subscription: 'replayed', series: 1 }, 5_000);
    const ofReplays = { subscriptionId: uuidOf('replayed'), status: 'delivered' } as const;
    for (const replayedFrom of [null, NOW - 2 * HOUR_MS]) {
      expect(await count({ ...ofReplays, replayedFrom })).toEqual({ deliveries: 0, hasMore: true });
      const read = await rowsRead({ ...ofReplays, replayedFrom });
      expect(read['deliveries_by_subscription']).toBeLessThanOrEqual(2 * 1_001);
    }
  });

  it.each<[string, Partial<ResendableQuery>, string]>([
    ['no other filter', {}, 'another subscription'],
    ['a status', { status: 'failed' }, 'van-9'],
    ['a code', { statusCode: 500 }, 'van-9'],
  ])('with a device and %s is what matches of the device, not all that it has', async (_, filters, others) => {
    const device = `van-9 with ${_}`;
    await insertMany({ hoursAgo: 1, status: 'delivered', subscription: others, device }, 500);
    await insert({ event: device, hoursAgo: 1, status: 'failed', code: 500, subscription: 'van-9', device });
    const query = { subscriptionId: uuidOf('van-9'), deviceId: device, ...filters };
    expect(await count(query)).toEqual({ deliveries: 1, hasMore: false });
    expect((await rowsRead(query))['deliveries_by_device']).toBeLessThanOrEqual(2);
  });
});
