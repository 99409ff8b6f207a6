import { DAY_MS, RETENTION_MS, WALKED_MS } from '@waypost/domain';

/** A table that is partitioned by range of a time, one partition per UTC day. */
export interface DailyTable {
  /** Becomes part of the text of statements. */
  readonly name: 'deliveries' | 'delivery_figures' | 'path_points' | 'waiting_deliveries';
  /** Arbitrary fixed numbers: the advisory locks of partition creators and of the one retention run. */
  readonly creationLock: number;
  readonly retentionLock: number;
}

export function startOfUtcDay(atMs: number): number {
  return Math.floor(atMs / DAY_MS) * DAY_MS;
}

export function groupByDay<T>(items: readonly T[], timeOf: (item: T) => number): Map<number, T[]> {
  const days = new Map<number, T[]>();
  for (const item of items) {
    const day = startOfUtcDay(timeOf(item));
    const ofDay = days.get(day);
    if (ofDay === undefined) days.set(day, [item]);
    else ofDay.push(item);
  }
  return days;
}

/**
 * A day expires as a whole, once its last millisecond is older than the retention. Its rows are no longer
 * written, so that a rebuild from the log neither creates a partition that is soon dropped nor looks for what has left
 * the log.
 */
export function isDayExpired(atMs: number, nowMs: number): boolean {
  return startOfUtcDay(atMs) + DAY_MS <= nowMs - RETENTION_MS;
}

/** An expired day stays until every walk that began before has ended. */
export function isDayUnread(atMs: number, nowMs: number): boolean {
  return startOfUtcDay(atMs) + DAY_MS <= nowMs - WALKED_MS;
}

/** A condition on a row of pg_class: the same schema as the table. `table` is the SQL of the table's name. */
export function inSchemaOf(table: string): string {
  return `relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = ${table}::text::regclass)`;
}
