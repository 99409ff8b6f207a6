import type { DataSource, EntityManager } from 'typeorm';
import { DAY_MS, isDayExpired, startOfUtcDay } from './retention.js';

/** Any fixed numbers; they name the locks that concurrent creators queue on and that one retention run holds. */
const CREATION_LOCK = 7_215_002;
const RETENTION_LOCK = 7_215_003;

const IN_OUR_SCHEMA = "relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = 'deliveries'::regclass)";

/**
 * No vacuum because of insertions: it would freeze rows that are dropped within days, and mark pages for index-only scans
 * that no page of the history makes. Updates still bring one, and the statistics are kept as usual.
 */
const STORAGE = 'autovacuum_vacuum_insert_threshold = -1';

export type DropResult =
  | { readonly type: 'dropped'; readonly partitions: readonly string[] }
  /** Another process is at it. */
  | { readonly type: 'busy' };

/** The daily partitions of the deliveries table. Neither operation stops readers or the projection. */
export interface DeliveryPartitions {
  /** Creates what is missing for the days of both moments and those between; resolves to the names of the new ones. */
  ensurePartitions(fromMs: number, toMs: number): Promise<readonly string[]>;
  /** Drops the days that are wholly older than the retention. A run that was cut short is finished by the next. */
  dropExpiredPartitions(nowMs: number): Promise<DropResult>;
}

export function createDeliveryPartitions(dataSource: DataSource): DeliveryPartitions {
  async function createPartition(manager: EntityManager, dayMs: number): Promise<string | null> {
    const name = partitionName(dayMs);
    // First the advisory lock, then the tables: two creators must not meet half-way.
    await manager.query('SELECT pg_advisory_xact_lock($1)', [CREATION_LOCK]);
    if (await tableExists(manager, name)) return null;
    // CREATE TABLE ... PARTITION OF would shut out readers and writers of all days; ATTACH does not.
    await manager.query(`CREATE TABLE ${name} (LIKE deliveries INCLUDING ALL) WITH (${STORAGE})`);
    await manager.query(`ALTER TABLE deliveries ATTACH PARTITION ${name} ${bounds(dayMs)}`);
    return name;
  }

  return {
    async ensurePartitions(fromMs, toMs) {
      const created: string[] = [];
      for (let dayMs = startOfUtcDay(fromMs); dayMs <= toMs; dayMs += DAY_MS) {
        if (await tableExists(dataSource.manager, partitionName(dayMs))) continue;
        const name = await dataSource.transaction((manager) => createPartition(manager, dayMs));
        if (name !== null) created.push(name);
      }
      return created;
    },

    async dropExpiredPartitions(nowMs) {
      // One connection throughout: the lock belongs to the session, and DETACH CONCURRENTLY refuses a transaction.
      const session = dataSource.createQueryRunner();
      try {
        if (!(await tryLock(session.manager))) return { type: 'busy' };
        try {
          return { type: 'dropped', partitions: await dropExpired(session.manager, nowMs) };
        } finally {
          await session.query('SELECT pg_advisory_unlock($1)', [RETENTION_LOCK]);
        }
      } finally {
        await session.release();
      }
    },
  };
}

async function dropExpired(session: EntityManager, nowMs: number): Promise<string[]> {
  const expired = (await listPartitions(session)).filter(({ dayMs }) => isDayExpired(dayMs, nowMs));
  for (const { name, attachment } of expired) {
    // A plain DROP would wait for every reader and make all later ones wait behind it.
    if (attachment === 'attached') await session.query(`ALTER TABLE deliveries DETACH PARTITION ${name} CONCURRENTLY`);
    if (attachment === 'leaving') await session.query(`ALTER TABLE deliveries DETACH PARTITION ${name} FINALIZE`);
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
async function listPartitions(session: EntityManager): Promise<ListedPartition[]> {
  const rows: { name: string; leaving: boolean | null }[] = await session.query(
    `SELECT t.relname AS name, i.inhdetachpending AS leaving
       FROM pg_class t LEFT JOIN pg_inherits i ON i.inhrelid = t.oid AND i.inhparent = 'deliveries'::regclass
      WHERE t.relkind = 'r' AND t.relname ~ '^deliveries_[0-9]{8}$'
        AND ${IN_OUR_SCHEMA}
      ORDER BY t.relname`,
  );
  return rows.map(({ name, leaving }) => ({
    name,
    dayMs: dayOf(name),
    attachment: leaving === null ? 'detached' : leaving ? 'leaving' : 'attached',
  }));
}

async function tryLock(session: EntityManager): Promise<boolean> {
  const rows: { locked: boolean }[] = await session.query('SELECT pg_try_advisory_lock($1) AS locked', [
    RETENTION_LOCK,
  ]);
  return rows[0]?.locked === true;
}

/** Reads the catalog itself: to_regclass answers from a cache that does not know yet what a rival has just committed. */
async function tableExists(manager: EntityManager, name: string): Promise<boolean> {
  const rows: unknown[] = await manager.query(`SELECT 1 FROM pg_class WHERE relname = $1 AND ${IN_OUR_SCHEMA}`, [name]);
  return rows.length > 0;
}

/** `deliveries_20260131`; made of digits only, which is why it may stand in a statement. */
export const partitionName = (dayMs: number): string => `deliveries_${isoDay(dayMs).replaceAll('-', '')}`;

const bounds = (dayMs: number): string =>
  `FOR VALUES FROM ('${isoDay(dayMs)} 00:00:00+00') TO ('${isoDay(dayMs + DAY_MS)} 00:00:00+00')`;

const isoDay = (atMs: number): string => new Date(atMs).toISOString().slice(0, 10);

function dayOf(name: string): number {
  const digits = name.slice('deliveries_'.length);
  return Date.UTC(Number(digits.slice(0, 4)), Number(digits.slice(4, 6)) - 1, Number(digits.slice(6, 8)));
}
