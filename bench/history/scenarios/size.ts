import { type BenchContext, dayName } from '../bench-context.js';

export interface IndexSize {
  readonly name: string;
  readonly bytesPerDelivery: number;
}

export interface SizeRun {
  readonly deliveries: number;
  readonly tableBytesPerDelivery: number;
  readonly indexes: readonly IndexSize[];
  readonly bytesPerDelivery: number;
}

/** Room of the filled days, as they are when they were written by the projection. */
export async function measureSize({ dataSource, calendar }: BenchContext): Promise<SizeRun> {
  const days = ['deliveries_' + dayName(calendar.fromMs), 'deliveries_' + dayName(calendar.toMs - 1)];
  const ofDays = "t.relname ~ '^deliveries_[0-9]{8}$' AND t.relname BETWEEN $1 AND $2";
  const [rows]: { count: string }[] = await dataSource.query(
    'SELECT count(*) FROM deliveries WHERE first_attempt_at >= $1 AND first_attempt_at < $2',
    [calendar.fromMs, calendar.toMs].map((atMs) => new Date(atMs).toISOString()),
  );
  const deliveries = Number(rows?.count ?? 0);
  const [table]: { bytes: string }[] = await dataSource.query(
    `SELECT sum(pg_table_size(t.oid)) AS bytes FROM pg_class t WHERE ${ofDays}`,
    days,
  );
  const indexes: { name: string; bytes: string }[] = await dataSource.query(
    `SELECT parent.relname AS name, sum(pg_relation_size(i.indexrelid)) AS bytes
       FROM pg_class t JOIN pg_index i ON i.indrelid = t.oid JOIN pg_inherits h ON h.inhrelid = i.indexrelid
            JOIN pg_class parent ON parent.oid = h.inhparent
      WHERE ${ofDays} GROUP BY parent.relname ORDER BY parent.relname`,
    days,
  );
  const each = (bytes: string | undefined): number => Number(bytes ?? 0) / deliveries;
  const sizes = indexes.map(({ name, bytes }) => ({ name, bytesPerDelivery: each(bytes) }));
  const tableBytesPerDelivery = each(table?.bytes);
  const ofIndexes = sizes.reduce((sum, { bytesPerDelivery }) => sum + bytesPerDelivery, 0);
  return { deliveries, tableBytesPerDelivery, indexes: sizes, bytesPerDelivery: tableBytesPerDelivery + ofIndexes };
}
