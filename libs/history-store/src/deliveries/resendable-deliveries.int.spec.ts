import { beforeAll, describe, expect, it } from '@jest/globals';
import { useTestHistory } from '../../../../test/support/test-history.js';
import { explainQuery } from '../pages/page-sql.js';
import { NOW, uuidOf } from './attempt-samples.contract.js';
import { createDeliveryPartitions } from './delivery-partitions.js';
import { createResendableDeliveries, type ResendableQuery, resendableSql } from './resendable-deliveries.js';

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

function asked(more: Partial<ResendableQuery>): ResendableQuery {
  return { fleetId: 'acme', subscriptionId: OWN, startAt: NOW - 10 * HOUR_MS, endAt: NOW, most: 100, ...more };
}

function count(more: Partial<ResendableQuery>): Promise<number> {
  return createResendableDeliveries({ pages: suite.pages }).count(asked(more));
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
    ['nothing of another fleet', { fleetId: 'other', deviceId: 'van-2' }, 0],
  ])('is %s', async (_, filters, expected) => {
    expect(await count(filters)).toBe(expected);
  });

  it('is counted no further than asked', async () => {
    expect(await count({ most: 3 })).toBe(4);
    expect(await count({ most: 6 })).toBe(6);
  });

  it('reads no more than it counts, from the index by subscription', async () => {
    await suite.dataSource.query(
      `INSERT INTO deliveries (event_id, first_attempt_at, last_attempt_at, event_time, created_at, series, status_code,
         last_attempt, fleet_id, device_id, subscription_id, event_type, format, status, url, body, attempts)
       SELECT md5('busy ' || n)::uuid, $1, $1, $1, $1, 0, 200, 1, 'acme', 'van-1', $2, 'position', 'v1', 'delivered',
              'https://x.example/', '{}', '[]' FROM generate_series(1, 5000) AS n`,
      [new Date(NOW - HOUR_MS), uuidOf('busy')],
    );
    const query = resendableSql(asked({ subscriptionId: uuidOf('busy'), most: 1_000 }));
    const scans = (await explainQuery(suite.pages, 'acme', query)).filter(
      (node) => node['Relation Name'] !== undefined,
    );
    expect(new Set(scans.map((node) => node['Index Name']))).toEqual(new Set(['deliveries_by_subscription']));
    const read = scans.reduce((rows, node) => rows + node['Actual Rows'] * node['Actual Loops'], 0);
    expect(read).toBeLessThanOrEqual(1_001);
  });
});
