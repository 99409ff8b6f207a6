import { beforeAll, describe, expect, it } from '@jest/globals';
import { type SubscriptionActivity } from '@waypost/domain';
import { useTestHistory } from '../../../../test/support/test-history.js';
import { explainQuery } from '../sql/explain-query.js';
import { NOW, uuidOf } from './attempt-samples.contract.js';
import { createDeliveryPartitions } from './delivery-partitions.js';
import { createWaitingPartitions } from './postgres-waiting-projection.js';
import { activitySql, createSubscriptionActivities } from './subscription-activity.js';

const suite = useTestHistory();

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

beforeAll(async () => {
  await createDeliveryPartitions(suite.dataSource).ensurePartitions(NOW - 15 * DAY_MS, NOW);
});

interface Row {
  readonly subscription?: string;
  readonly fleetId?: string;
  readonly status: 'delivered' | 'failed' | 'pending';
  readonly firstAttemptAt: number;
  /** Default: a second after the first attempt, if it is delivered. */
  readonly deliveredAt?: number;
  readonly count?: number;
  /** The decision of its first line. */
  readonly decision?: string;
}

async function insert(subscription: string, ...rows: Row[]): Promise<void> {
  for (const [index, row] of rows.entries()) {
    const { fleetId = 'acme', status, firstAttemptAt, count = 1, decision } = row;
    const deliveredAt = row.deliveredAt ?? firstAttemptAt + 1_000;
    await suite.dataSource.query(
      `INSERT INTO deliveries (event_id, first_attempt_at, last_attempt_at, event_time, created_at, delivered_at, series,
         status_code, last_attempt, fleet_id, device_id, subscription_id, event_type, format, status, url, body, attempts)
       SELECT md5($1 || n)::uuid, $2, $2, $2, $2::timestamptz - interval '1 second', $3, 0, 500, 1, $4, 'van-1', $5,
              'position', 'v1', $6, 'https://x.example/', '{}', $8
         FROM generate_series(1, $7::integer) AS n`,
      [
        ...[`${subscription} ${String(index)} `, new Date(firstAttemptAt)],
        ...[status === 'delivered' ? new Date(deliveredAt) : null, fleetId, uuidOf(row.subscription ?? subscription)],
        ...[status, count, decision ? JSON.stringify([[1, 0, 0, 0, null, decision, 'failed', decision]]) : '[]'],
      ],
    );
  }
}

function activityOf(subscription: string): Promise<SubscriptionActivity> {
  const window = { startAt: NOW - 15 * DAY_MS, endAt: NOW };
  const query = { fleetId: 'acme', subscriptionId: uuidOf(subscription), ...window };
  return createSubscriptionActivities({ pages: suite.pages }).read(query);
}

describe('the activity of a subscription, from the history (R-16)', () => {
  it('is nothing without an attempt', async () => {
    expect(await activityOf('none')).toEqual({
      lastSuccessAt: null,
      unacceptedSince: null,
      pending: 0,
      oldestPendingAt: null,
    });
  });

  it('begins to fail with the first delivery that was not accepted after the last success', async () => {
    const [longAgo, success] = [NOW - 9 * DAY_MS, NOW - 3 * DAY_MS];
    await insert(
      'fails',
      { status: 'delivered', firstAttemptAt: longAgo },
      { status: 'failed', firstAttemptAt: success - HOUR_MS },
      { status: 'delivered', firstAttemptAt: success },
      { status: 'failed', firstAttemptAt: success + 3 * HOUR_MS },
      { status: 'failed', firstAttemptAt: success + 2 * HOUR_MS },
      { status: 'pending', firstAttemptAt: success + 4 * HOUR_MS },
    );
    const pendingAt = success + 4 * HOUR_MS - 1_000;
    expect(await activityOf('fails')).toEqual({
      ...{
        lastSuccessAt: success + 1_000,
        unacceptedSince: success + 2 * HOUR_MS,
        pending: 1,
        oldestPendingAt: pendingAt,
      },
    });
  });

  it('does not fail for what was begun before the last success', async () => {
    await insert(
      'recovered',
      { status: 'failed', firstAttemptAt: NOW - 3 * HOUR_MS },
      { status: 'pending', firstAttemptAt: NOW - 2 * HOUR_MS },
      { status: 'delivered', firstAttemptAt: NOW - 4 * HOUR_MS, deliveredAt: NOW - HOUR_MS },
    );
    expect(await activityOf('recovered')).toEqual({
      ...{
        lastSuccessAt: NOW - HOUR_MS,
        unacceptedSince: null,
        pending: 1,
        oldestPendingAt: NOW - 2 * HOUR_MS - 1_000,
      },
    });
  });

  it('has its last success when a delivery was last accepted, which may have been begun before others', async () => {
    const begin = NOW - HOUR_MS;
    await insert(
      'retried',
      { status: 'delivered', firstAttemptAt: begin, deliveredAt: begin + 14_000 },
      { status: 'delivered', firstAttemptAt: begin + 5_000, deliveredAt: begin + 5_000 },
      { status: 'failed', firstAttemptAt: begin + 6_000 },
    );
    expect(await activityOf('retried')).toMatchObject({ lastSuccessAt: begin + 14_000, unacceptedSince: null });
  });

  it('fails from its first attempt on when nothing was ever accepted, also while that is pending', async () => {
    await insert('new', { status: 'pending', firstAttemptAt: NOW - HOUR_MS });
    expect(await activityOf('new')).toMatchObject({ lastSuccessAt: null, unacceptedSince: NOW - HOUR_MS, pending: 1 });
  });

  it('does not fail for deliveries that ended without an attempt, but from the first attempt after them on', async () => {
    const ends = ['expired', 'subscription_disabled', 'subscription_deleted'].map((decision, i): Row => ({
      status: 'failed',
      firstAttemptAt: NOW - (9 - i) * HOUR_MS,
      decision,
    }));
    await insert('only-ended', ...ends);
    expect(await activityOf('only-ended')).toMatchObject({ unacceptedSince: null });
    const firstAttemptAt = NOW - HOUR_MS;
    await insert('ended', ...ends, { status: 'failed', firstAttemptAt, decision: 'attempts_exhausted' });
    expect(await activityOf('ended')).toMatchObject({ unacceptedSince: firstAttemptAt });
  });

  it('is of one subscription of one fleet', async () => {
    await insert(
      'own',
      { status: 'delivered', firstAttemptAt: NOW - HOUR_MS },
      { status: 'failed', firstAttemptAt: NOW - 60_000, fleetId: 'other' },
      { status: 'pending', firstAttemptAt: NOW - 60_000, subscription: 'another' },
    );
    expect(await activityOf('own')).toMatchObject({ unacceptedSince: null, pending: 0 });
  });

  it('counts what waits for its first attempt too, and what is both once, from the oldest creation on', async () => {
    await createWaitingPartitions(suite.dataSource).ensurePartitions(NOW - 2 * DAY_MS, NOW);
    await insert('waits', { status: 'pending', firstAttemptAt: NOW - HOUR_MS, count: 2 });
    // One that had its first attempt meanwhile stays until it ends; two had none.
    const begun = "md5('waits 0 1')::uuid";
    for (const [id, createdAt] of [
      [begun, NOW - HOUR_MS - 1_000],
      ['gen_random_uuid()', NOW - DAY_MS],
      ['gen_random_uuid()', NOW - 60_000],
    ] as const) {
      await suite.dataSource.query(
        `INSERT INTO waiting_deliveries
           (event_id, created_at, event_time, series, fleet_id, device_id, subscription_id, event_type, format, body)
         VALUES (${id}, $1, $1, 0, 'acme', 'van-1', $2, 'position', 'v1', '{}')`,
        [new Date(createdAt), uuidOf('waits')],
      );
    }
    expect(await activityOf('waits')).toMatchObject({ pending: 4, oldestPendingAt: NOW - DAY_MS });
  });

  it('counts a bounded number, and reads no more than the answer needs from the index by subscription', async () => {
    await insert(
      'busy',
      { status: 'delivered', firstAttemptAt: NOW - 5 * DAY_MS, count: 3_000 },
      { status: 'pending', firstAttemptAt: NOW - 4 * DAY_MS, count: 1_500 },
      { status: 'failed', firstAttemptAt: NOW - 4 * DAY_MS, count: 3_000 },
    );
    expect(await activityOf('busy')).toMatchObject({ pending: 1_000 });
    const window = { startAt: NOW - 15 * DAY_MS, endAt: NOW };
    const query = activitySql({ fleetId: 'acme', subscriptionId: uuidOf('busy'), ...window });
    const nodes = await explainQuery(suite.pages, 'acme', query);
    const scans = nodes.filter((node) => node['Relation Name'] !== undefined);
    expect(new Set(scans.map((node) => node['Index Name']))).toEqual(
      new Set(['deliveries_by_subscription', 'waiting_deliveries_by_subscription', 'waiting_deliveries_pkey']),
    );
    const read = scans.reduce((rows, node) => rows + node['Actual Rows'] * node['Actual Loops'], 0);
    // Of the pending ones the bound; of the newest delivered a hundred; of the oldest failed and pending one each.
    expect(read).toBeLessThanOrEqual(1_000 + 100 + 2);
  });
});
