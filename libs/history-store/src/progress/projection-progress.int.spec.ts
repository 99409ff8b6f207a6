import { beforeEach, describe, expect, it } from '@jest/globals';
import type { DeliveryQuery } from '@waypost/domain';
import { useTestHistory } from '../../../../test/support/test-history.js';
import { until } from '../../../../test/support/until.js';
import { attemptOf, NOW, uuidOf } from '../deliveries/attempt-samples.contract.js';
import { createDeliveryHistory } from '../deliveries/postgres-delivery-history.js';
import { createDeliveryProjection } from '../deliveries/postgres-delivery-projection.js';
import { emptyHistory } from '../rebuild/history-rebuild.js';
import { createProjectionProgress } from './projection-progress.js';

const suite = useTestHistory();

const TOPIC = 'webhook.attempts';
const LOGS = { deliveries: TOPIC, delivery_figures: TOPIC, path_points: 'telemetry.pings', waiting_deliveries: 'none' };

/** An attempt takes 5 s, is written for a minute, and clocks differ by 5 s. */
const LOGGED_WITHIN_MS = 70_000;

beforeEach(async () => {
  await emptyHistory(suite.dataSource, LOGS);
  await suite.dataSource.query('DELETE FROM delivery_progress');
});

async function completeUntil(query: Partial<DeliveryQuery> = {}): Promise<number | null> {
  const all = { fleetId: 'fleet-a', startAt: NOW - 86_400_000, endAt: NOW, limit: 10 };
  return (await createDeliveryHistory({ pages: suite.pages }).findDeliveries({ ...all, ...query })).completeUntil;
}
const progress = () => createProjectionProgress(suite.dataSource);

/** A batch of one attempt that was logged at this time, and its position. */
async function project(partition: number, expectedOffset: number | null, loggedAt: number): Promise<void> {
  const nextOffset = (expectedOffset ?? 0) + 1;
  const eventId = uuidOf(`${String(partition)} ${String(nextOffset)}`);
  const attempts = [attemptOf({ eventId, startedAt: loggedAt - 10 })];
  const batch = { topic: TOPIC, partition, expectedOffset, nextOffset, attempts, completeUntil: loggedAt };
  const applied = await createDeliveryProjection({ dataSource: suite.dataSource, now: () => NOW }).apply(batch);
  expect(applied).toMatchObject({ type: 'applied', deliveries: 1 });
}
function caughtUp(partition: number, expectedOffset: number | null, at: number): Promise<void> {
  return progress().caughtUp({ topic: TOPIC, partition, expectedOffset, completeUntil: at });
}

describe('completeUntil (R-33)', () => {
  it('is not known before every partition has been read', async () => {
    expect(await completeUntil()).toBeNull();
    await progress().begin(TOPIC, 2);
    await project(0, null, NOW - 5_000);
    expect(await completeUntil()).toBeNull();
    await project(1, null, NOW - 9_000);
    expect(await completeUntil()).toBe(NOW - 9_000 - LOGGED_WITHIN_MS);
  });

  it('does not pass what is missing: a partition whose projector stopped or is behind holds it', async () => {
    await progress().begin(TOPIC, 2);
    await project(0, null, NOW - 60_000);
    for (const [offset, loggedAt] of [NOW - 50_000, NOW - 40_000, NOW - 30_000].entries()) {
      await project(1, offset === 0 ? null : offset, loggedAt);
      // Whatever the other partition does.
      expect(await completeUntil()).toBe(Math.min(NOW - 60_000, loggedAt) - LOGGED_WITHIN_MS);
    }
    await project(0, 1, NOW - 20_000);
    expect(await completeUntil()).toBe(NOW - 30_000 - LOGGED_WITHIN_MS);
  });

  it('goes on while nothing happens: a partition at the end of its log does not hold it', async () => {
    await progress().begin(TOPIC, 2);
    await project(0, null, NOW - 60_000);
    await caughtUp(1, null, NOW - 1_000);
    expect(await completeUntil()).toBe(NOW - 60_000 - LOGGED_WITHIN_MS);
    await caughtUp(0, 1, NOW - 2_000);
    expect(await completeUntil()).toBe(NOW - 2_000 - LOGGED_WITHIN_MS);
  });

  it('does not believe a projector whose position is another than the stored one', async () => {
    await progress().begin(TOPIC, 1);
    await project(0, null, NOW - 60_000);
    for (const stale of [null, 0, 2]) await caughtUp(0, stale, NOW);
    expect(await completeUntil()).toBe(NOW - 60_000 - LOGGED_WITHIN_MS);
  });

  it('is the same on a page without deliveries, and for filters that find nothing', async () => {
    await progress().begin(TOPIC, 1);
    await project(0, null, NOW - 60_000);
    const nothing: Partial<DeliveryQuery>[] = [
      { fleetId: 'fleet-b' },
      { statusCode: 200, status: 'failed' },
      { eventId: 'no uuid' },
      { endAt: 0 },
      { eventTypes: ['a', 'b', 'c', 'd', 'e'] },
    ];
    for (const query of nothing) expect(await completeUntil(query)).toBe(NOW - 60_000 - LOGGED_WITHIN_MS);
  });

  it('is not known from a rebuild on until every partition is read again', async () => {
    await progress().begin(TOPIC, 2);
    await project(0, null, NOW - 60_000);
    await caughtUp(1, null, NOW - 1_000);
    await emptyHistory(suite.dataSource, LOGS);
    expect(await completeUntil()).toBeNull();
    await caughtUp(0, 1, NOW);
    await progress().begin(TOPIC, 2);
    await project(0, null, NOW - 60_000);
    expect(await completeUntil()).toBeNull();
    await caughtUp(1, null, NOW);
    expect(await completeUntil()).toBe(NOW - 60_000 - LOGGED_WITHIN_MS);
  });

  it('counts a partition that is added, from before it is read', async () => {
    await progress().begin(TOPIC, 3);
    for (const partition of [0, 1, 2]) await caughtUp(partition, null, NOW - 3_000 + partition);
    await progress().begin(TOPIC, 4);
    expect(await completeUntil()).toBeNull();
    await caughtUp(3, null, NOW - 4_000);
    expect(await completeUntil()).toBe(NOW - 4_000 - LOGGED_WITHIN_MS);
  });

  it('is held by a partition that is behind, also when a projector begins that knows of fewer', async () => {
    await progress().begin(TOPIC, 6);
    await project(0, null, NOW - 50_000);
    await project(5, null, NOW - 60_000);
    for (const partition of [1, 2, 3, 4]) await caughtUp(partition, null, NOW - 1_000);
    await caughtUp(0, 1, NOW - 1_000);
    for (const fewer of [1, 3, 5]) {
      await progress().begin(TOPIC, fewer);
      expect(await completeUntil()).toBe(NOW - 60_000 - LOGGED_WITHIN_MS);
    }
  });

  it('is held by a partition that has never been read, also when a projector begins that knows of fewer', async () => {
    await progress().begin(TOPIC, 3);
    for (const partition of [0, 1]) await caughtUp(partition, null, NOW - 1_000);
    await progress().begin(TOPIC, 2);
    expect(await completeUntil()).toBeNull();
  });

  it.each([
    ['a batch', () => project(1, null, NOW - 9_000)],
    ['a look at the end of the log', () => caughtUp(1, null, NOW - 9_000)],
  ])('is held by a partition that was not known before it reported %s', async (_, report) => {
    await progress().begin(TOPIC, 1);
    await caughtUp(0, null, NOW - 1_000);
    await report();
    expect(await completeUntil()).toBe(NOW - 9_000 - LOGGED_WITHIN_MS);
  });

  it('counts the partitions of a topic that was created again with fewer, once the history is emptied', async () => {
    await progress().begin(TOPIC, 3);
    for (const partition of [0, 1, 2]) await project(partition, null, NOW - 60_000);
    await emptyHistory(suite.dataSource, LOGS);
    await progress().begin(TOPIC, 2);
    for (const partition of [0, 1]) await caughtUp(partition, null, NOW - 3_000);
    expect(await completeUntil()).toBe(NOW - 3_000 - LOGGED_WITHIN_MS);
  });

  it('does not believe a report of a position that a rebuild has just forgotten', async () => {
    await progress().begin(TOPIC, 1);
    await project(0, null, NOW - 60_000);
    const reader = suite.dataSource.createQueryRunner();
    await reader.startTransaction();
    // The rebuild has forgotten the positions, and waits for the rows.
    await reader.query('LOCK TABLE deliveries IN ACCESS SHARE MODE');
    const rebuild = emptyHistory(suite.dataSource, LOGS);
    await untilWaiting(1);
    const report = caughtUp(0, 1, NOW);
    await untilWaiting(2);
    await reader.commitTransaction();
    await reader.release();
    expect(await rebuild).toEqual({ type: 'emptied' });
    await report;
    expect(await completeUntil()).toBeNull();
  });
});

/** Sessions that wait for a lock. */
function untilWaiting(sessions: number): Promise<unknown> {
  return until(async () => {
    const rows: unknown[] = await suite.dataSource.query(
      `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
    return rows.length >= sessions;
  });
}
