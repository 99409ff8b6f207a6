import { expect, it } from '@jest/globals';
import { createDataSource } from './data-source.js';
import { isConnectionLoss } from './history/connection-loss.js';
import { lineTo } from './testing/line.js';

it('a data source gives a query up whose connection says nothing any more, and asks the next one over another', async () => {
  const line = await lineTo(process.env['WAYPOST_TEST_DATABASE_URL'] ?? '');
  const dataSource = await createDataSource(line.databaseUrl, { statementTimeoutMs: 200 }).initialize();
  try {
    line.silence();
    const outcome: unknown = await dataSource.query('SELECT 1').catch((error: unknown) => error);
    expect(isConnectionLoss(outcome)).toBe(true);
    expect(await dataSource.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
  } finally {
    await line.close();
    await dataSource.destroy();
  }
});
