/** SQL by hand: TypeORM has no statements for partitions. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSource, EntityManager } from 'typeorm';
import { LOCK_NOT_AVAILABLE, sqlState } from '@waypost/database';
import { type DailyTable, inSchemaOf, isDayUnread } from './daily-table.js';

export type DetachResult =
  | {
      readonly type: 'detached';
      readonly partitions: readonly string[];
      /** A long transaction may still read these: no new query sees them, and the next run continues with them. */
      readonly waiting: readonly string[];
    }
  /** Another process runs the retention. */
  | { readonly type: 'busy' };

export type DropResult =
  | { readonly type: 'dropped'; readonly partitions: readonly string[] }
  /** Another process runs the retention. */
  | { readonly type: 'busy' };

export interface DetachLimits {
  /** The limit for each lock, and for each transaction that has read the table. */
  readonly lockTimeoutMs: number;
  readonly tries: number;
  readonly pauseMs: number;
}

/**
 * Detaching blocks the creation of partitions while it waits for a long reader, so it yields after a moment. The
 * timeout is longer than PostgreSQL's `deadlock_timeout` of a second, after which autovacuum yields to it.
 */
const LIMITS: DetachLimits = { lockTimeoutMs: 2_000, tries: 5, pauseMs: 500 };

/**
 * Expires a day in two steps: it is detached from the table, which hides it from readers, and then its files are
 * deleted, which takes the file system up to a second per gigabyte and blocks no query.
 */
export interface ExpiredPartitions {
  /**
   * Detaches days older than the retention and the walks over it. Once it has resolved, no query sees them, and none
   * that saw them still runs. The next run finishes an interrupted one.
   */
  detachExpired(nowMs: number): Promise<DetachResult>;
  /** Also drops days that an interrupted run has detached. */
  dropDetached(nowMs: number): Promise<DropResult>;
}

export function createExpiredPartitions(
  dataSource: DataSource,
  table: DailyTable,
  limits: DetachLimits = LIMITS,
): ExpiredPartitions {
  return {
    async detachExpired(nowMs) {
      const detached = await withRetentionLock(dataSource, table, limits, async (session) => {
        const expired = (await listExpired(session, table, nowMs)).filter(
          ({ attachment }) => attachment !== 'detached',
        );
        return detachAll(session, table, expired, limits);
      });
      return detached === null ? { type: 'busy' } : { type: 'detached', ...detached };
    },

    async dropDetached(nowMs) {
      const partitions = await withRetentionLock(dataSource, table, limits, async (session) => {
        const expired = await listExpired(session, table, nowMs);
        const detached = expired.filter(({ attachment }) => attachment === 'detached').map(({ name }) => name);
        for (const name of detached) await session.query(`DROP TABLE ${name}`);
        return detached;
      });
      return partitions === null ? { type: 'busy' } : { type: 'dropped', partitions };
    },
  };
}

/**
 * Works on one connection: the lock belongs to the session, and DETACH CONCURRENTLY cannot run in a transaction.
 * Resolves to null if another process has the lock.
 */
async function withRetentionLock<T>(
  dataSource: DataSource,
  { retentionLock }: DailyTable,
  { lockTimeoutMs }: DetachLimits,
  work: (session: EntityManager) => Promise<T>,
): Promise<T | null> {
  const session = dataSource.createQueryRunner();
  try {
    // The next run repeats a commit lost in a power failure, so readers are released before it is on disk.
    const rows: { locked: boolean }[] = await session.manager.query(
      `SELECT pg_try_advisory_lock($1) AS locked, set_config('synchronous_commit', 'off', false),
              set_config('lock_timeout', $2, false)`,
      [retentionLock, String(lockTimeoutMs)],
    );
    const isLocked = rows[0]?.locked === true;
    try {
      return isLocked ? await work(session.manager) : null;
    } finally {
      const unlock = isLocked ? `; SELECT pg_advisory_unlock(${String(retentionLock)})` : '';
      await session.query(`RESET synchronous_commit; RESET lock_timeout${unlock}`);
    }
  } finally {
    await session.release();
  }
}

async function detachAll(
  session: EntityManager,
  table: DailyTable,
  days: readonly ListedDay[],
  limits: DetachLimits,
): Promise<{ partitions: readonly string[]; waiting: readonly string[] }> {
  const names = days.map(({ name }) => name);
  for (const [index, day] of days.entries()) {
    // Other days would wait for the same reader, and only one partition may be detaching at a time.
    if (!(await detach(session, table, day, limits)))
      return { partitions: names.slice(0, index), waiting: names.slice(index) };
  }
  return { partitions: names, waiting: [] };
}

/**
 * CONCURRENTLY, because a plain DETACH waits for every reader and makes all later readers wait behind it. It hides the
 * day, waits for the readers that have seen it, and detaches it. Resolves to false if such a reader runs for too long.
 */
async function detach(
  session: EntityManager,
  table: DailyTable,
  { name, attachment }: ListedDay,
  { tries, pauseMs }: DetachLimits,
): Promise<boolean> {
  let isDetaching = attachment === 'detaching';
  for (let left = tries; left > 0; left -= 1) {
    try {
      await session.query(
        `ALTER TABLE ${table.name} DETACH PARTITION ${name} ${isDetaching ? 'FINALIZE' : 'CONCURRENTLY'}`,
      );
      return true;
    } catch (error) {
      if (sqlState(error) !== LOCK_NOT_AVAILABLE) throw error;
    }
    if (left > 1) await sleep(pauseMs);
    isDetaching = (await listDays(session, table)).some((day) => day.name === name && day.attachment === 'detaching');
  }
  return false;
}

interface ListedDay {
  readonly name: string;
  readonly dayMs: number;
  /** detaching: a DETACH CONCURRENTLY was interrupted. detached: it finished, the DROP was not reached. */
  readonly attachment: 'attached' | 'detaching' | 'detached';
}

async function listExpired(session: EntityManager, table: DailyTable, nowMs: number): Promise<ListedDay[]> {
  return (await listDays(session, table)).filter(({ dayMs }) => isDayUnread(dayMs, nowMs));
}

/**
 * Returns a detaching day first, because no other can be detached before it; then the oldest. The pattern of the name
 * is checked here, so that no other table can reach the DROP.
 */
async function listDays(session: EntityManager, table: DailyTable): Promise<ListedDay[]> {
  const rows: { name: string; detaching: boolean | null }[] = await session.query(
    `SELECT t.relname AS name, i.inhdetachpending AS detaching
       FROM pg_class t LEFT JOIN pg_inherits i ON i.inhrelid = t.oid AND i.inhparent = $1::text::regclass
      WHERE t.relkind = 'r' AND t.relname ~ ('^' || $1 || '_[0-9]{8}$')
        AND ${inSchemaOf('$1')}
      ORDER BY i.inhdetachpending IS TRUE DESC, t.relname`,
    [table.name],
  );
  return rows.map(({ name, detaching }) => ({
    name,
    dayMs: dayOf(name.slice(table.name.length + 1)),
    attachment: detaching === null ? 'detached' : detaching ? 'detaching' : 'attached',
  }));
}

function dayOf(digits: string): number {
  return Date.UTC(Number(digits.slice(0, 4)), Number(digits.slice(4, 6)) - 1, Number(digits.slice(6, 8)));
}
