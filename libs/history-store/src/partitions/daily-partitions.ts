/** SQL by hand: TypeORM has no statements for partitions. */
import type { DataSource, EntityManager } from 'typeorm';
import { grantDay } from '@waypost/database';
import { DAY_MS } from '@waypost/domain';
import { type DailyTable, inSchemaOf, startOfUtcDay } from './daily-table.js';
import { createExpiredPartitions, type DetachLimits, type ExpiredPartitions } from './expired-partitions.js';

/** The daily partitions of a table. No operation blocks readers or the projection. */
export interface DailyPartitions extends ExpiredPartitions {
  /** Creates the missing partitions from the day of `fromMs` to the day of `toMs`; resolves to the names of the new ones. */
  ensurePartitions(fromMs: number, toMs: number): Promise<readonly string[]>;
}

/** Remembers which partitions exist, so that a writer need not check per batch. */
export interface PartitionCache {
  /** Call before a transaction: a partition is created in its own, so that a lock on a table definition is brief. */
  ensure(times: Iterable<number>): Promise<void>;
  /** Call after a failure: another process may have dropped a day. */
  clear(): void;
}

/**
 * Disables vacuum for insertions alone: it would freeze rows that are dropped within days, and mark pages for
 * index-only scans that no query makes. Updates still trigger one, and statistics are kept as usual.
 */
const STORAGE = 'autovacuum_vacuum_insert_threshold = -1';

export function createDailyPartitions(
  dataSource: DataSource,
  table: DailyTable,
  limits?: DetachLimits,
): DailyPartitions {
  return {
    async ensurePartitions(fromMs, toMs) {
      const created: string[] = [];
      for (let dayMs = startOfUtcDay(fromMs); dayMs <= toMs; dayMs += DAY_MS) {
        if (await tableExists(dataSource.manager, table, partitionName(table.name, dayMs))) continue;
        const name = await dataSource.transaction((manager) => createPartition(manager, table, dayMs));
        if (name !== null) created.push(name);
      }
      return created;
    },
    ...createExpiredPartitions(dataSource, table, limits),
  };
}

export function createPartitionCache(partitions: DailyPartitions): PartitionCache {
  const days = new Set<number>();
  return {
    async ensure(times) {
      for (const atMs of times) {
        const day = startOfUtcDay(atMs);
        if (days.has(day)) continue;
        await partitions.ensurePartitions(day, day);
        days.add(day);
      }
    },
    clear: () => days.clear(),
  };
}

/** `deliveries_20260131`: the suffix has only digits, so the name may be part of a statement. */
export function partitionName(table: DailyTable['name'], dayMs: number): string {
  return `${table}_${isoDay(dayMs).replaceAll('-', '')}`;
}

/** Resolves to null if another process has created it in the meantime. */
async function createPartition(manager: EntityManager, table: DailyTable, dayMs: number): Promise<string | null> {
  const name = partitionName(table.name, dayMs);
  // The advisory lock comes before the table locks: two creators cannot deadlock.
  await manager.query('SELECT pg_advisory_xact_lock($1)', [table.creationLock]);
  if (await tableExists(manager, table, name)) return null;
  // CREATE TABLE ... PARTITION OF would block readers and writers of all days; ATTACH does not.
  await manager.query(`CREATE TABLE ${name} (LIKE ${table.name} INCLUDING ALL) WITH (${STORAGE})`);
  await grantDay(manager, name);
  await manager.query(`ALTER TABLE ${table.name} ATTACH PARTITION ${name} ${bounds(dayMs)}`);
  return name;
}

/** Reads the catalog itself: to_regclass uses a cache that may not have another process's newest commit. */
async function tableExists(manager: EntityManager, table: DailyTable, name: string): Promise<boolean> {
  const sql = `SELECT 1 FROM pg_class WHERE relname = $2 AND ${inSchemaOf('$1')}`;
  const rows: unknown[] = await manager.query(sql, [table.name, name]);
  return rows.length > 0;
}

function bounds(dayMs: number): string {
  return `FOR VALUES FROM ('${isoDay(dayMs)} 00:00:00+00') TO ('${isoDay(dayMs + DAY_MS)} 00:00:00+00')`;
}

function isoDay(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 10);
}
