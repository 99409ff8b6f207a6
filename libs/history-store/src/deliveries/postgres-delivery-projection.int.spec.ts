import { describe, expect, it } from '@jest/globals';
import { createDataSource, isConnectionLoss, isLockTimeout } from '@waypost/database';
import type { WebhookAttempt } from '@waypost/domain';
import { useTestHistory } from '../../../../test/support/test-history.js';
import { until } from '../../../../test/support/until.js';
import { inTransaction } from '../projection/projection-transaction.js';
import { attemptsOf, expectedRecords, NOW, uuidOf } from './attempt-samples.contract.js';
import { createDeliveryHistory } from './postgres-delivery-history.js';
import { createDeliveryProjection } from './postgres-delivery-projection.js';

const suite = useTestHistory({ poolSize: 8 });

/** A fleet's log of some deliveries with a retry each, and the rows that it must give. */
function sampleLog(fleetId: string, deliveries = 40) {
  const attempts = Array.from({ length: deliveries }, (_, index) =>
    attemptsOf(
      { fleetId, eventId: uuidOf(`${fleetId} ${String(index)}`), firstAttemptAt: NOW - 1_000_000 + index * 1_000 },
      1,
      'delivered',
    ),
  );
  // All first attempts, then all second ones.
  const log = [0, 1].flatMap((index) => attempts.flatMap((ofDelivery) => ofDelivery[index] ?? []));
  return { fleetId, log, expected: expectedRecords(log), total: log.length };
}

async function rowsOf(fleetId: string, window = { startAt: 0, endAt: NOW }) {
  return (await createDeliveryHistory({ pages: suite.pages }).findDeliveries({ fleetId, limit: 1_000, ...window }))
    .records;
}

function batchOf(topic: string, log: readonly WebhookAttempt[], from: number | null, to: number) {
  return { topic, partition: 0, expectedOffset: from, nextOffset: to, attempts: log.slice(from ?? 0, to) };
}

/** One whose slot was given to the next because it waits too long, and the one that has the slot. */
const WAITING = 2;

async function rowLockWaits(): Promise<number> {
  const [row]: { n: number }[] = await suite.dataSource.query(
    "SELECT count(*)::integer AS n FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
  );
  return row?.n ?? 0;
}

describe('the projection into PostgreSQL', () => {
  it('applies a batch exactly once, although it and its rivals repeat it', async () => {
    const { fleetId, log, expected, total } = sampleLog('twice');
    const projection = createDeliveryProjection({ dataSource: suite.dataSource, now: () => NOW });
    const batch = batchOf('twice', log, null, total);
    const results = await Promise.all([1, 2, 3, 4].map(() => projection.apply(batch)));

    expect(results.map(({ type }) => type).sort()).toEqual(['applied', 'superseded', 'superseded', 'superseded']);
    expect(results.filter(({ type }) => type === 'superseded')).toEqual(
      Array(3).fill({ type: 'superseded', storedOffset: total }),
    );
    expect(await rowsOf(fleetId)).toEqual(expected);
  });

  it('gives the rows of the log while two projectors race over one partition with batches of their own', async () => {
    const { fleetId, log, expected, total } = sampleLog('race', 120);
    const racer = async (size: number): Promise<number> => {
      const projection = createDeliveryProjection({ dataSource: suite.dataSource, now: () => NOW });
      let applied = 0;
      for (let at = await projection.readPosition('race', 0); at !== total;) {
        const next = Math.min((at ?? 0) + size, total);
        const result = await projection.apply(batchOf('race', log, at, next));
        if (result.type === 'applied') applied += next - (at ?? 0);
        at = result.type === 'applied' ? next : result.storedOffset;
      }
      return applied;
    };
    const applied = await Promise.all([racer(7), racer(11)]);

    expect(applied[0] + applied[1]).toBe(total);
    expect(await rowsOf(fleetId)).toEqual(expected);
  });

  it('leaves nothing of a batch whose transaction was interrupted', async () => {
    const { fleetId, log, expected, total } = sampleLog('crash');
    const victim = await createDataSource(suite.database.url, { applicationName: 'victim' }).initialize();
    const blocker = suite.dataSource.createQueryRunner();
    try {
      const projection = createDeliveryProjection({ dataSource: victim, now: () => NOW });
      await projection.apply(batchOf('crash', log, null, 40));
      // The rows of the second batch are there and the position is moved, but the last statement waits for this lock.
      await blocker.startTransaction();
      await blocker.query('SELECT 1 FROM deliveries WHERE event_id = $1 FOR UPDATE', [log.at(-1)?.eventId]);
      const outcome = projection.apply(batchOf('crash', log, 40, total)).catch((error: unknown) => error);
      await until(async () => (await sessions("wait_event_type = 'Lock'")) === 1);
      await suite.dataSource.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'victim'`,
      );

      expect(isConnectionLoss(await outcome)).toBe(true);
      await blocker.commitTransaction();
      expect(await projection.readPosition('crash', 0)).toBe(40);
      expect(await rowsOf(fleetId)).toEqual(expectedRecords(log.slice(0, 40)));
      expect(await projection.apply(batchOf('crash', log, 40, total))).toMatchObject({ type: 'applied' });
      expect(await rowsOf(fleetId)).toEqual(expected);
    } finally {
      await blocker.release();
      await victim.destroy();
    }
  });

  it('writes every row of a batch that is prepared in chunks', async () => {
    const { fleetId, log, expected, total } = sampleLog('in chunks', 450);
    const projection = createDeliveryProjection({ dataSource: suite.dataSource, now: () => NOW });
    const applied = await projection.apply(batchOf('in chunks', log, null, total));
    expect(applied).toMatchObject({ type: 'applied', deliveries: 450, headlessDeliveries: 0 });
    expect(await rowsOf(fleetId)).toEqual(expected);
  });

  it('fails once after another process dropped a day, and then creates the day again', async () => {
    const { fleetId, log, expected, total } = sampleLog('dropped');
    const projection = createDeliveryProjection({ dataSource: suite.dataSource, now: () => NOW });
    // A day that no other test writes to.
    const shiftMs = 30 * 86_400_000;
    const attempts = log.map((attempt) => ({
      ...attempt,
      firstAttemptAt: attempt.firstAttemptAt + shiftMs,
      startedAt: attempt.startedAt + shiftMs,
    }));
    await projection.apply(batchOf('dropped', attempts, null, total));
    await suite.dataSource.query('DROP TABLE deliveries_20260720');

    const again = { ...batchOf('dropped', attempts, total, 2 * total), attempts };
    await expect(projection.apply(again)).rejects.toThrow('"deliveries_20260720" does not exist');
    expect(await projection.readPosition('dropped', 0)).toBe(total);
    expect(await projection.apply(again)).toMatchObject({ type: 'applied', deliveries: expected.length });
    expect(await rowsOf(fleetId, { startAt: NOW, endAt: NOW + 2 * shiftMs })).toHaveLength(expected.length);
  });

  it('accepts any text as the name of a topic', async () => {
    const { log } = sampleLog('quoted', 1);
    const projection = createDeliveryProjection({ dataSource: suite.dataSource, now: () => NOW });
    const topic = "it's; \\' DROP TABLE deliveries; --";
    expect(await projection.apply(batchOf(topic, log, null, 1))).toMatchObject({ type: 'applied' });
    expect(await projection.apply(batchOf(topic, log, 1, 2))).toMatchObject({ type: 'applied' });
    expect(await projection.readPosition(topic, 0)).toBe(2);
  });

  it('is freed from a process that stopped in the middle of a transaction', async () => {
    const { log, total } = sampleLog('stopped', 3);
    const stopped = await createDataSource(suite.database.url, { idleInTransactionTimeoutMs: 50 }).initialize();
    const zombie = stopped.createQueryRunner();
    try {
      const projection = createDeliveryProjection({ dataSource: suite.dataSource, now: () => NOW });
      await projection.apply(batchOf('stopped', log, null, 1));
      await zombie.startTransaction();
      await zombie.query("UPDATE projection_positions SET next_offset = 99 WHERE topic = 'stopped'");

      expect(await projection.apply(batchOf('stopped', log, 1, total))).toMatchObject({ type: 'applied' });
      const afterwards = await zombie.query('COMMIT').catch((error: unknown) => error);
      expect(isConnectionLoss(afterwards)).toBe(true);
      expect(await projection.readPosition('stopped', 0)).toBe(total);
    } finally {
      await zombie.release();
      await stopped.destroy();
    }
  });

  it('continues with the other partitions while a stopped projector holds the rows of some', async () => {
    const { log } = sampleLog('locked', 3);
    const projection = createDeliveryProjection({ dataSource: suite.dataSource, now: () => NOW });
    const batch = (partition: number) => ({ ...batchOf('locked', log, null, 1), partition });
    await Promise.all([0, 1, 2].map((partition) => projection.apply(batch(partition))));
    const stopped = suite.dataSource.createQueryRunner();
    try {
      await stopped.startTransaction();
      await stopped.query("SELECT 1 FROM projection_positions WHERE topic = 'locked' FOR UPDATE");
      const next = (partition: number) => projection.apply({ ...batchOf('locked', log, 1, 2), partition });
      const waiting = [0, 1, 2].map((partition) => next(partition).catch((error: unknown) => error));
      await until(async () => {
        expect(await rowLockWaits()).toBe(WAITING);
      });

      const others = sampleLog('not locked', 3);
      const free = { ...batchOf('locked', others.log, null, others.total), partition: 3 };
      expect(await projection.apply(free)).toMatchObject({ type: 'applied' });
      expect((await Promise.all(waiting)).map(isLockTimeout)).toEqual([true, true, true]);
    } finally {
      await stopped.rollbackTransaction();
      await stopped.release();
    }
  });

  it('does not wait forever on a silent connection', async () => {
    const endless = inTransaction(suite.dataSource, (client) => client.query('SELECT pg_sleep(30)'), 200);
    const outcome: unknown = await endless.catch((error: unknown) => error);
    expect(isConnectionLoss(outcome)).toBe(true);
    expect(await suite.dataSource.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  it('reports an unreachable server as a connection loss, and a bug of ours not', async () => {
    const nobody = createDataSource('postgres://waypost:secret@127.0.0.1:1/none');
    expect(isConnectionLoss(await nobody.initialize().catch((error: unknown) => error))).toBe(true);
    const fault: unknown = await suite.dataSource.query('SELECT nothing FROM nowhere').catch((error: unknown) => error);
    expect(isConnectionLoss(fault)).toBe(false);
  });
});

async function sessions(condition: string): Promise<number> {
  const [row]: { n: number }[] = await suite.dataSource.query(
    `SELECT count(*)::integer AS n FROM pg_stat_activity WHERE application_name = 'victim' AND ${condition}`,
  );
  return row?.n ?? 0;
}
