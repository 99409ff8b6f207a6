import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { openTcpProxy, type TcpProxy } from '../../../test/support/tcp-proxy.js';
import { requireTestStack } from '../../../test/support/test-stack.js';
import { isConnectionLoss } from './database-errors.js';
import { createPageSource, type PageSource } from './page-source.js';

const STATEMENT_TIMEOUT_MS = 200;
const ONE = { name: 'one', text: 'SELECT 1 AS one', parameters: [] };

let proxy: TcpProxy;
let pages: PageSource;

beforeEach(async () => {
  proxy = await openTcpProxy(requireTestStack().databaseUrl);
  pages = createPageSource(proxy.databaseUrl, { poolSize: 2, statementTimeoutMs: STATEMENT_TIMEOUT_MS });
});
afterEach(async () => {
  await pages.close();
  await proxy.close();
});

describe('createPageSource', () => {
  it('opens read-only connections that plan each statement once', async () => {
    const settings = await pages.withConnection('acme', (client) =>
      client.query(
        "SELECT current_setting('transaction_read_only') AS ro, current_setting('plan_cache_mode') AS plans",
      ),
    );
    expect(settings.rows).toEqual([{ ro: 'on', plans: 'force_generic_plan' }]);
  });

  it('sees the fleet of each read, on one connection that has served others', async () => {
    const single = createPageSource(requireTestStack().databaseUrl, { poolSize: 1 });
    const fleet = { name: 'fleet', text: "SELECT current_setting('waypost.fleet') AS fleet", parameters: [] };
    for (const fleetId of ['acme', 'other', 'other', 'acme'])
      expect(await single.read(fleetId, fleet)).toEqual([{ fleet: fleetId }]);
    expect(single.usage().total).toBe(1);
    await single.close();
  });

  it('fails a page on a silent connection, and reads the next on another', async () => {
    expect(await pages.read('acme', ONE)).toEqual([{ one: 1 }]);
    proxy.silence();
    const outcome: unknown = await pages.read('acme', ONE).catch((error: unknown) => error);
    expect(isConnectionLoss(outcome)).toBe(true);
    expect(await pages.read('acme', ONE)).toEqual([{ one: 1 }]);
    expect(pages.usage()).toEqual({ total: 1, idle: 1, waiting: 0 });
  });

  it('leaves connections to the others while a fleet reads slowly (R-26)', async () => {
    const fleetTurns = { atATime: 1, inAll: 2, waiting: 10, waitMs: 60_000 };
    const shared = createPageSource(requireTestStack().databaseUrl, { poolSize: 2, fleetTurns });
    let end = (): void => undefined;
    const ended = new Promise<void>((resolve) => (end = resolve));
    const slow = Promise.allSettled([1, 2, 3].map(() => shared.withConnection('acme', () => ended)));
    const read = shared.read('other', ONE).finally(() => end());
    expect(await read).toEqual([{ one: 1 }]);
    await slow;
    await shared.close();
  });

  it('closes without waiting for a silent connection', async () => {
    await pages.read('acme', ONE);
    proxy.silence();
    const hanging = pages.read('acme', ONE).catch(() => undefined);
    await pages.close();
    await hanging;
  });
});
