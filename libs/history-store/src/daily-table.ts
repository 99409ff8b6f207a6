/** A table that is partitioned by range of a time, one partition a UTC day. */
export interface DailyTable {
  /** Stands in statements as it is. */
  readonly name: 'deliveries' | 'path_points';
  /** Any fixed numbers; they name the locks that concurrent creators queue on and that one retention run holds. */
  readonly creationLock: number;
  readonly retentionLock: number;
}

/** What a catalog row has to be of; `table` is the SQL of the table's name. */
export const inSchemaOf = (table: string): string =>
  `relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = ${table}::text::regclass)`;
