import type { QueryRunner } from 'typeorm';

export interface OnlineIndex {
  readonly name: string;
  readonly table: string;
  readonly columns: string;
  /** Only rows with this condition; absent: all. */
  readonly where?: string;
}

type IndexOfDays = Omit<OnlineIndex, 'where'>;

/**
 * Adds an index to a partitioned table while others write to it, which `CREATE INDEX` keeps them from for as long as it
 * takes. Each day is indexed by itself; a later run goes on where one that was interrupted has stopped.
 *
 * Only for migrations with `transaction = false`: CONCURRENTLY does not work in a transaction.
 */
export async function createIndexOnline(queryRunner: QueryRunner, index: IndexOfDays): Promise<void> {
  const { name, table, columns } = index;
  // Short, as it indexes nothing. It is valid once every day has its own; days that are added from now on have theirs.
  await queryRunner.query(`CREATE INDEX IF NOT EXISTS ${name} ON ONLY ${table} (${columns})`);
  for (const { day, state } of await daysWithout(queryRunner, index)) {
    // The retention may have dropped it during the build of the others.
    if (!(await exists(queryRunner, day))) continue;
    const ofDay = `${day}_${name}`;
    if (state === 'interrupted') await queryRunner.query(`DROP INDEX ${ofDay}`);
    if (state !== 'built') await buildIndex(queryRunner, `${ofDay} ON ${day} (${columns})`);
    await queryRunner.query(`ALTER INDEX ${name} ATTACH PARTITION ${ofDay}`);
  }
}

/** The same for a table without partitions. */
export async function createPlainIndexOnline(queryRunner: QueryRunner, index: OnlineIndex): Promise<void> {
  const { name, table, columns, where } = index;
  const [own] = (await queryRunner.query(
    'SELECT indisvalid AS "isBuilt" FROM pg_index WHERE indexrelid = to_regclass($1)',
    [name],
  )) as readonly { readonly isBuilt: boolean }[];
  if (own?.isBuilt === true) return;
  if (own !== undefined) await queryRunner.query(`DROP INDEX ${name}`);
  const rows = where === undefined ? '' : ` WHERE ${where}`;
  await buildIndex(queryRunner, `${name} ON ${table} (${columns})${rows}`);
}

async function exists(queryRunner: QueryRunner, day: string): Promise<boolean> {
  const [found] = (await queryRunner.query('SELECT to_regclass($1) IS NOT NULL AS here', [day])) as readonly [
    { readonly here: boolean },
  ];
  return found.here;
}

interface DayWithout {
  readonly day: string;
  /** The state of the partition's own index, which is not attached. */
  readonly state: 'missing' | 'interrupted' | 'built';
}

async function daysWithout(queryRunner: QueryRunner, { name, table }: IndexOfDays): Promise<readonly DayWithout[]> {
  const days: unknown = await queryRunner.query(
    `SELECT day.relname AS day,
            CASE WHEN own.indexrelid IS NULL THEN 'missing' WHEN own.indisvalid THEN 'built' ELSE 'interrupted' END AS state
       FROM pg_inherits AS part
       JOIN pg_class AS day ON day.oid = part.inhrelid
       LEFT JOIN pg_index AS own ON own.indexrelid = to_regclass(day.relname || '_' || $2)
      WHERE part.inhparent = to_regclass($1) AND NOT part.inhdetachpending
        AND NOT EXISTS (SELECT FROM pg_index AS one JOIN pg_inherits AS attached ON attached.inhrelid = one.indexrelid
                         WHERE one.indrelid = day.oid AND attached.inhparent = to_regclass($2))
      ORDER BY day.relname`,
    [table, name],
  );
  return days as readonly DayWithout[];
}

/** Waits for every transaction that is under way, without making anything wait behind it: so it may wait for long. */
async function buildIndex(queryRunner: QueryRunner, nameAndColumns: string): Promise<void> {
  const [before] = (await queryRunner.query('SHOW lock_timeout')) as readonly [{ readonly lock_timeout: string }];
  await queryRunner.query('SET lock_timeout = 0');
  await queryRunner.query(`CREATE INDEX CONCURRENTLY ${nameAndColumns}`);
  await queryRunner.query("SELECT set_config('lock_timeout', $1, false)", [before.lock_timeout]);
}
