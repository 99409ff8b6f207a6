import type { DataSource, EntityManager } from 'typeorm';
import { DAY_MS, isDayExpired, startOfUtcDay } from './history/retention.js';

/** A table that is partitioned by range of a time, one partition a UTC day. */
export interface DailyTable {
  /** Stands in statements as it is. */
  readonly name: 'deliveries' | 'path_points';
  /** Any fixed numbers; they name the locks that concurrent creators queue on and that one retention run holds. */
  readonly creationLock: number;
  readonly retentionLock: number;
}

/**
 * No vacuum because of insertions: it would freeze rows that are dropped within days, and mark pages for index-only scans
 * that no page makes. Updates still bring one, and the statistics are kept as usual.
 */
const STORAGE = 'autovacuum_vacuum_insert_threshold = -1';

export type DropResult =
  | { readonly type: 'dropped'; readonly partitions: readonly string[] }
  /** Another process is at it. */
  | { readonly type: 'busy' };

/** The daily partitions of a table. Neither operation stops readers or the projection. */
export interface DailyPartitions {
  /** Creates what is missing for the days of both moments and those between; resolves to the names of the new ones. */
  ensurePartitions(fromMs: number, toMs: number): Promise<readonly string[]>;
  /** Drops the days that are wholly older than the retention. A run that was cut short is finished by the next. */
  dropExpiredPartitions(nowMs: number): Promise<DropResult>;
}

export function createDailyPartitions(dataSource: DataSource, table: DailyTable): DailyPartitions {
  async function createPartition(manager: EntityManager, dayMs: number): Promise<string | null> {
    const name = partitionName(table.name, dayMs);
    // First the advisory lock, then the tables: two creators must not meet half-way.
    await manager.query('SELECT pg_advisory_xact_lock($1)', [table.creationLock]);
    if (await tableExists(manager, table, name)) return null;
    // CREATE TABLE ... PARTITION OF would shut out readers and writers of all days; ATTACH does not.
    await manager.query(`CREATE TABLE ${name} (LIKE ${table.name} INCLUDING ALL) WITH (${STORAGE})`);
    await manager.query(`ALTER TABLE ${table.name} ATTACH PARTITION ${name} ${bounds(dayMs)}`);
    return name;
  }

  return {
    async ensurePartitions(fromMs, toMs) {
      const created: string[] = [];
      for (let dayMs = startOfUtcDay(fromMs); dayMs <= toMs; dayMs += DAY_MS) {
        if (await tableExists(dataSource.manager, table, partitionName(table.name, dayMs))) continue;
        const name = await dataSource.transaction((manager) => createPartition(manager, dayMs));
        if (name !== null) created.push(name);
      }
      return created;
    },

    async dropExpiredPartitions(nowMs) {
      // One connection throughout: the lock belongs to the session, and DETACH CONCURRENTLY refuses a transaction.
      const session = dataSource.createQueryRunner();
      try {
        if (!(await tryLock(session.manager, table))) return { type: 'busy' };
        try {
          // A commit that a power cut loses is made again by the next run; readers are let go before the disk has it.
          await session.query('SET synchronous_commit = off');
          return { type: 'dropped', partitions: await dropExpired(session.manager, table, nowMs) };
        } finally {
          await session.query('RESET synchronous_commit');
          await session.query('SELECT pg_advisory_unlock($1)', [table.retentionLock]);
        }
      } finally {
        await session.release();
      }
    },
  };
}

async function dropExpired(session: EntityManager, table: DailyTable, nowMs: number): Promise<string[]> {
  const expired = (await listPartitions(session, table)).filter(({ dayMs }) => isDayExpired(dayMs, nowMs));
  for (const { name, attachment } of expired) {
    // A plain DROP would wait for every reader and make all later ones wait behind it.
    const detach = `ALTER TABLE ${table.name} DETACH PARTITION ${name}`;
    if (attachment === 'attached') await session.query(`${detach} CONCURRENTLY`);
    if (attachment === 'leaving') await session.query(`${detach} FINALIZE`);
    await session.query(`DROP TABLE ${name}`);
  }
  return expired.map(({ name }) => name);
}

interface ListedPartition {
  readonly name: string;
  readonly dayMs: number;
  /** leaving: a DETACH CONCURRENTLY was cut short. detached: it was finished, the DROP was not reached. */
  readonly attachment: 'attached' | 'leaving' | 'detached';
}

/** Oldest first. The name's pattern is checked here, so that nothing else can ever reach the DROP. */
async function listPartitions(session: EntityManager, table: DailyTable): Promise<ListedPartition[]> {
  const rows: { name: string; leaving: boolean | null }[] = await session.query(
    `SELECT t.relname AS name, i.inhdetachpending AS leaving
       FROM pg_class t LEFT JOIN pg_inherits i ON i.inhrelid = t.oid AND i.inhparent = $1::text::regclass
      WHERE t.relkind = 'r' AND t.relname ~ ('^' || $1 || '_[0-9]{8}$')
        AND ${inSchemaOf('$1')}
      ORDER BY t.relname`,
    [table.name],
  );
  return rows.map(({ name, leaving }) => ({
    name,
    dayMs: dayOf(name.slice(table.name.length + 1)),
    attachment: leaving === null ? 'detached' : leaving ? 'leaving' : 'attached',
  }));
}

async function tryLock(session: EntityManager, table: DailyTable): Promise<boolean> {
  const rows: { locked: boolean }[] = await session.query('SELECT pg_try_advisory_lock($1) AS locked', [
    table.retentionLock,
  ]);
  return rows[0]?.locked === true;
}

/** Reads the catalog itself: to_regclass answers from a cache that does not know yet what a rival has just committed. */
async function tableExists(manager: EntityManager, table: DailyTable, name: string): Promise<boolean> {
  const sql = `SELECT 1 FROM pg_class WHERE relname = $2 AND ${inSchemaOf('$1')}`;
  const rows: unknown[] = await manager.query(sql, [table.name, name]);
  return rows.length > 0;
}

const inSchemaOf = (table: string): string =>
  `relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = ${table}::text::regclass)`;

/** `deliveries_20260131`; its end is made of digits only, which is why it may stand in a statement. */
export const partitionName = (table: DailyTable['name'], dayMs: number): string =>
  `${table}_${isoDay(dayMs).replaceAll('-', '')}`;

const bounds = (dayMs: number): string =>
  `FOR VALUES FROM ('${isoDay(dayMs)} 00:00:00+00') TO ('${isoDay(dayMs + DAY_MS)} 00:00:00+00')`;

const isoDay = (atMs: number): string => new Date(atMs).toISOString().slice(0, 10);

const dayOf = (digits: string): number =>
  Date.UTC(Number(digits.slice(0, 4)), Number(digits.slice(4, 6)) - 1, Number(digits.slice(6, 8)));
