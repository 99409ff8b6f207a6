import type { DataSource, EntityManager } from 'typeorm';
import { inSchemaOf, type DailyTable } from './daily-table.js';
import { createExpiredDays, type DetachLimits, type ExpiredDays } from './expired-days.js';
import { DAY_MS, startOfUtcDay } from './history/retention.js';

/**
 * No vacuum because of insertions: it would freeze rows that are dropped within days, and mark pages for index-only scans
 * that no page makes. Updates still bring one, and the statistics are kept as usual.
 */
const STORAGE = 'autovacuum_vacuum_insert_threshold = -1';

/** The daily partitions of a table. No operation stops readers or the projection. */
export interface DailyPartitions extends ExpiredDays {
  /** Creates what is missing for the days of both moments and those between; resolves to the names of the new ones. */
  ensurePartitions(fromMs: number, toMs: number): Promise<readonly string[]>;
}

export function createDailyPartitions(
  dataSource: DataSource,
  table: DailyTable,
  limits?: DetachLimits,
): DailyPartitions {
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

    ...createExpiredDays(dataSource, table, limits),
  };
}

/** Reads the catalog itself: to_regclass answers from a cache that does not know yet what a rival has just committed. */
async function tableExists(manager: EntityManager, table: DailyTable, name: string): Promise<boolean> {
  const sql = `SELECT 1 FROM pg_class WHERE relname = $2 AND ${inSchemaOf('$1')}`;
  const rows: unknown[] = await manager.query(sql, [table.name, name]);
  return rows.length > 0;
}

/** `deliveries_20260131`; its end is made of digits only, which is why it may stand in a statement. */
export const partitionName = (table: DailyTable['name'], dayMs: number): string =>
  `${table}_${isoDay(dayMs).replaceAll('-', '')}`;

const bounds = (dayMs: number): string =>
  `FOR VALUES FROM ('${isoDay(dayMs)} 00:00:00+00') TO ('${isoDay(dayMs + DAY_MS)} 00:00:00+00')`;

const isoDay = (atMs: number): string => new Date(atMs).toISOString().slice(0, 10);
