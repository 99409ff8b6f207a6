import { beforeEach, describe, expect, it } from '@jest/globals';
import type { DeliveryQuery } from '@waypost/domain';
import { useTestHistory } from '../../../../test/support/test-history.js';
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
    await progress().begin(2);
    await project(0, null, NOW - 5_000);
    expect(await completeUntil()).toBeNull();
    await project(1, null, NOW - 9_000);
    expect(await completeUntil()).toBe(NOW - 9_000 - LOGGED_WITHIN_MS);
  });

  it('does not pass what is missing: a partition whose projector stopped or is behind holds it', async () => {
    await progress().begin(2);
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
    await progress().begin(2);
    await project(0, null, NOW - 60_000);
    await caughtUp(1, null, NOW - 1_000);
    expect(await completeUntil()).toBe(NOW - 60_000 - LOGGED_WITHIN_MS);
    await caughtUp(0, 1, NOW - 2_000);
    expect(await completeUntil()).toBe(NOW - 2_000 - LOGGED_WITHIN_MS);
  });

  it('does not believe a projector whose position is another than the stored one', async () => {
    await progress().begin(1);
    await project(0, null, NOW - 60_000);
    for (const stale of [null, 0, 2]) await caughtUp(0, stale, NOW);
    expect(await completeUntil()).toBe(NOW - 60_000 - LOGGED_WITHIN_MS);
  });

  it('is the same on a page without deliveries, and for filters that find nothing', async () => {
    await progress().begin(1);
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
    await progress().begin(2);
    await project(0, null, NOW - 60_000);
    await caughtUp(1, null, NOW - 1_000);
    await emptyHistory(suite.dataSource, LOGS);
    expect(await completeUntil()).toBeNull();
    await caughtUp(0, 1, NOW);
    await progress().begin(2);
    await project(0, null, NOW - 60_000);
    expect(await completeUntil()).toBeNull();
    await caughtUp(1, null, NOW);
    expect(await completeUntil()).toBe(NOW - 60_000 - LOGGED_WITHIN_MS);
  });

  it('counts the partitions that there are', async () => {
    await progress().begin(3);
    for (const partition of [0, 1, 2]) await caughtUp(partition, null, NOW - 3_000 + partition);
    await progress().begin(4);
    expect(await completeUntil()).toBeNull();
    await progress().begin(2);
    expect(await completeUntil()).toBe(NOW - 3_000 - LOGGED_WITHIN_MS);
  });
});
