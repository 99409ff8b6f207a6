import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSource, EntityManager } from 'typeorm';
import { inSchemaOf, type DailyTable } from './daily-table.js';
import { isDayExpired } from './history/retention.js';
import { sqlState } from '@waypost/database';

export type DetachResult =
  | {
      readonly type: 'detached';
      readonly partitions: readonly string[];
      /** Somebody who may have seen them goes on for long: no new query does, and the next run goes on with them. */
      readonly waiting: readonly string[];
    }
  /** Another process is at it. */
  | { readonly type: 'busy' };

export type DropResult =
  | { readonly type: 'dropped'; readonly partitions: readonly string[] }
  /** Another process is at it. */
  | { readonly type: 'busy' };

export interface DetachLimits {
  /** For each lock, and for each transaction that has looked at the table. */
  readonly lockTimeoutMs: number;
  readonly tries: number;
  readonly pauseMs: number;
}

/**
 * While it waits for a long reader, a day that leaves keeps others from being made; so it gives way after a moment. Longer than
 * PostgreSQL's `deadlock_timeout` of a second, after which autovacuum lets go of a table that somebody waits for.
 */
const LIMITS: DetachLimits = { lockTimeoutMs: 2_000, tries: 5, pauseMs: 500 };

const LOCK_NOT_AVAILABLE = '55P03';

/**
 * The end of a day, in two steps: it leaves the table, which is what readers see, and then its files are deleted, which
 * takes the file system a good part of a second for a gigabyte and concerns nobody.
 */
export interface ExpiredDays {
  /**
   * Takes the days that are wholly older than the retention out of the table. Once it has resolved no query sees them, and
   * none that saw them still runs. A run that was cut short is finished by the next.
   */
  detachExpired(nowMs: number): Promise<DetachResult>;
  /** Gives back the room of such days that were taken out, by this run or by one that did not get so far. */
  dropDetached(nowMs: number): Promise<DropResult>;
}

export function createExpiredDays(
  dataSource: DataSource,
  table: DailyTable,
  limits: DetachLimits = LIMITS,
): ExpiredDays {
  return {
    async detachExpired(nowMs) {
      const detached = await alone(dataSource, table, limits, async (session) => {
        const expired = (await listExpired(session, table, nowMs)).filter(
          ({ attachment }) => attachment !== 'detached',
        );
        return detachInTurn(session, table, expired, limits);
      });
      return detached === null ? { type: 'busy' } : { type: 'detached', ...detached };
    },

    async dropDetached(nowMs) {
      const partitions = await alone(dataSource, table, limits, async (session) => {
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
 * Does the work on one connection throughout: the lock belongs to the session, and DETACH CONCURRENTLY refuses a transaction.
 * Resolves to null when another process has the lock.
 */
async function alone<T>(
  dataSource: DataSource,
  { retentionLock }: DailyTable,
  { lockTimeoutMs }: DetachLimits,
  work: (session: EntityManager) => Promise<T>,
): Promise<T | null> {
  const session = dataSource.createQueryRunner();
  try {
    // A commit that a power cut loses is made again by the next run; readers are let go before the disk has it.
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

async function detachInTurn(
  session: EntityManager,
  table: DailyTable,
  days: readonly ListedDay[],
  limits: DetachLimits,
): Promise<{ partitions: readonly string[]; waiting: readonly string[] }> {
  const names = days.map(({ name }) => name);
  for (const [index, day] of days.entries()) {
    // The others would wait for the same, and only one may be leaving at a time.
    if (!(await detach(session, table, day, limits)))
      return { partitions: names.slice(0, index), waiting: names.slice(index) };
  }
  return { partitions: names, waiting: [] };
}

/**
 * CONCURRENTLY, for a plain DETACH waits for every reader and makes all later ones wait behind it. It hides the day, waits for
 * who has seen it, and takes it out. Resolves to false when somebody who has seen it goes on for long.
 */
async function detach(
  session: EntityManager,
  table: DailyTable,
  { name, attachment }: ListedDay,
  { tries, pauseMs }: DetachLimits,
): Promise<boolean> {
  let isLeaving = attachment === 'leaving';
  for (let left = tries; left > 0; left -= 1) {
    try {
      await session.query(
        `ALTER TABLE ${table.name} DETACH PARTITION ${name} ${isLeaving ? 'FINALIZE' : 'CONCURRENTLY'}`,
      );
      return true;
    } catch (error) {
      if (sqlState(error) !== LOCK_NOT_AVAILABLE) throw error;
    }
    if (left > 1) await sleep(pauseMs);
    isLeaving = (await listDays(session, table)).some((day) => day.name === name && day.attachment === 'leaving');
  }
  return false;
}

interface ListedDay {
  readonly name: string;
  readonly dayMs: number;
  /** leaving: a DETACH CONCURRENTLY was cut short. detached: it was finished, the DROP was not reached. */
  readonly attachment: 'attached' | 'leaving' | 'detached';
}

const listExpired = async (session: EntityManager, table: DailyTable, nowMs: number): Promise<ListedDay[]> =>
  (await listDays(session, table)).filter(({ dayMs }) => isDayExpired(dayMs, nowMs));

/**
 * What is leaving first, for nothing else can leave before it; then the oldest. The name's pattern is checked here, so that
 * nothing else can ever reach the DROP.
 */
async function listDays(session: EntityManager, table: DailyTable): Promise<ListedDay[]> {
  const rows: { name: string; leaving: boolean | null }[] = await session.query(
    `SELECT t.relname AS name, i.inhdetachpending AS leaving
       FROM pg_class t LEFT JOIN pg_inherits i ON i.inhrelid = t.oid AND i.inhparent = $1::text::regclass
      WHERE t.relkind = 'r' AND t.relname ~ ('^' || $1 || '_[0-9]{8}$')
        AND ${inSchemaOf('$1')}
      ORDER BY i.inhdetachpending IS TRUE DESC, t.relname`,
    [table.name],
  );
  return rows.map(({ name, leaving }) => ({
    name,
    dayMs: dayOf(name.slice(table.name.length + 1)),
    attachment: leaving === null ? 'detached' : leaving ? 'leaving' : 'attached',
  }));
}

const dayOf = (digits: string): number =>
  Date.UTC(Number(digits.slice(0, 4)), Number(digits.slice(4, 6)) - 1, Number(digits.slice(6, 8)));
