import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { PoolClient } from 'pg';
import type { DataSource, QueryRunner } from 'typeorm';
import { createDataSource } from '@waypost/database';
import { requireTestStack } from '../../../../test/support/test-stack.js';
import { copyIn, CopyRows } from './binary-copy.js';

let dataSource: DataSource;
let runner: QueryRunner;
let client: PoolClient;

beforeAll(async () => {
  const { databaseUrl } = requireTestStack();
  dataSource = await createDataSource(databaseUrl, { statementTimeoutMs: 60_000 }).initialize();
  runner = dataSource.createQueryRunner();
  client = (await runner.connect()) as PoolClient;
  await client.query('CREATE TEMPORARY TABLE copied (value integer NOT NULL)');
});
afterAll(async () => {
  await runner.release();
  await dataSource.destroy();
});

const COPY = 'COPY copied FROM STDIN (FORMAT binary)';

function rowsOf(values: readonly (number | null)[]): Buffer {
  const rows = new CopyRows();
  for (const value of values) {
    rows.startRow(1);
    rows.integer(value);
  }
  return rows.finish();
}

function timers(): number {
  return process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length;
}

/** A timer that is left holds the data until it fires. */
describe('a COPY on a connection whose queries have a time limit', () => {
  it('leaves no timer behind', async () => {
    const before = timers();
    expect(await copyIn(client, `TRUNCATE copied; ${COPY}`, rowsOf([1, 2, 3]))).toEqual(['TRUNCATE TABLE', 'COPY 3']);
    expect(timers()).toBe(before);
  });

  it('leaves none when it fails, and the connection goes on', async () => {
    const before = timers();
    await expect(copyIn(client, COPY, rowsOf([4, null]))).rejects.toThrow('violates not-null constraint');
    expect((await client.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
    expect(timers()).toBe(before);
  });
});
