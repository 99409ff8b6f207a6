import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { DataSource, EntityManager } from 'typeorm';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.js';
import { requireTestStack } from '../../../test/support/test-stack.js';
import { until } from '../../../test/support/until.js';
import { createDataSource } from './data-source.js';
import { grantRights, PROJECTOR_ROLE } from './database-roles.js';

const [EXPIRED, LASTING] = ['deliveries_20260504', 'deliveries_20260505'];

let database: TestDatabase;
let dataSource: DataSource;
beforeEach(async () => {
  database = await createTestDatabase(requireTestStack().databaseUrl);
  dataSource = await createDataSource(database.url).initialize();
  await dataSource.query(
    `CREATE TABLE ${EXPIRED} PARTITION OF deliveries FOR VALUES FROM ('2026-05-04') TO ('2026-05-05');
     CREATE TABLE ${LASTING} PARTITION OF deliveries FOR VALUES FROM ('2026-05-05') TO ('2026-05-06')`,
  );
});
afterEach(async () => {
  await dataSource.destroy();
  await database.drop();
});

async function mayInsert(day: string): Promise<boolean | undefined> {
  const [row] = await dataSource.query<{ may: boolean }[]>(`SELECT has_table_privilege($1, $2, 'INSERT') AS may`, [
    PROJECTOR_ROLE,
    day,
  ]);
  return row?.may;
}

/** A connection on which something happens once the days have been listed. */
function listedThen(work: () => Promise<unknown>): EntityManager {
  let isListed = false;
  const query = async (sql: string, parameters?: unknown[]): Promise<unknown> => {
    const result: unknown = await dataSource.query(sql, parameters);
    if (!isListed && sql.includes('pg_inherits')) {
      isListed = true;
      await work();
    }
    return result;
  };
  return { query } as unknown as EntityManager;
}

describe('grantRights', () => {
  it('goes on with the other days when one of those that it found is dropped', async () => {
    await grantRights(listedThen(() => dataSource.query(`DROP TABLE ${EXPIRED}`)));
    expect(await mayInsert(LASTING)).toBe(true);
  });

  it('does so while it waits for the day', async () => {
    const dropping = dataSource.createQueryRunner();
    await dropping.startTransaction();
    const granted = grantRights(listedThen(() => dropping.query(`DROP TABLE ${EXPIRED}`)));
    await until(async () => {
      const waiting = await dataSource.query<unknown[]>(
        `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
            AND query LIKE 'GRANT%${EXPIRED}%'`,
      );
      return waiting.length > 0;
    });
    await dropping.commitTransaction();
    await dropping.release();
    await granted;
    expect(await mayInsert(LASTING)).toBe(true);
  });

  it('fails for a day that stays', async () => {
    const refused = new Error('refused');
    const query = (sql: string, parameters?: unknown[]): Promise<unknown> =>
      sql.includes(`ON ${LASTING}`) ? Promise.reject(refused) : dataSource.query(sql, parameters);
    await expect(grantRights({ query } as unknown as EntityManager)).rejects.toBe(refused);
  });
});
