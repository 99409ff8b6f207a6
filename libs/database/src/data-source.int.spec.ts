import { expect, it } from '@jest/globals';
import { openTcpProxy } from '../../../test/support/tcp-proxy.js';
import { requireTestStack } from '../../../test/support/test-stack.js';
import { createDataSource } from './data-source.js';
import { isConnectionLoss } from './database-errors.js';

it('createDataSource: a query on a silent connection fails, and the next uses another', async () => {
  const proxy = await openTcpProxy(requireTestStack().databaseUrl);
  const dataSource = await createDataSource(proxy.databaseUrl, { statementTimeoutMs: 200 }).initialize();
  try {
    proxy.silence();
    const outcome: unknown = await dataSource.query('SELECT 1').catch((error: unknown) => error);
    expect(isConnectionLoss(outcome)).toBe(true);
    expect(await dataSource.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
  } finally {
    await proxy.close();
    await dataSource.destroy();
  }
});
