import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { isConnectionLoss } from './history/connection-loss.js';
import { createPageSource, type PageSource } from './page-source.js';

const STATEMENT_TIMEOUT_MS = 200;
const ONE = { name: 'one', text: 'SELECT 1 AS one', parameters: [] };

/** Between the pool and the server: connections can be made to say nothing any more, as a firewall does that forgets them. */
interface Line {
  readonly port: number;
  silence(): void;
  close(): Promise<void>;
}

async function lineTo(address: URL): Promise<Line> {
  const pairs: [Socket, Socket][] = [];
  const all = new Set<Socket>();
  const server: Server = createServer((inner) => {
    const outer = connect(Number(address.port), address.hostname);
    for (const socket of [inner, outer]) socket.on('error', () => undefined);
    all.add(inner).add(outer);
    inner.pipe(outer).pipe(inner);
    pairs.push([inner, outer]);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    port: (server.address() as AddressInfo).port,
    silence() {
      for (const [inner, outer] of pairs.splice(0)) {
        inner.unpipe(outer).pause();
        outer.unpipe(inner).pause();
      }
    },
    close() {
      for (const socket of all) socket.destroy();
      return new Promise((done) => {
        server.close(() => {
          done();
        });
      });
    },
  };
}

let line: Line;
let pages: PageSource;

beforeEach(async () => {
  const address = new URL(process.env['WAYPOST_TEST_DATABASE_URL'] ?? '');
  line = await lineTo(address);
  const url = Object.assign(new URL(address), { port: String(line.port) }).href;
  pages = createPageSource(url, { poolSize: 2, statementTimeoutMs: STATEMENT_TIMEOUT_MS });
});
afterEach(async () => {
  await pages.close();
  await line.close();
});

describe('the connections of pages', () => {
  it('can write nothing, and plan each statement once', async () => {
    const settings = await pages.withConnection((client) =>
      client.query(
        "SELECT current_setting('transaction_read_only') AS ro, current_setting('plan_cache_mode') AS plans",
      ),
    );
    expect(settings.rows).toEqual([{ ro: 'on', plans: 'force_generic_plan' }]);
  });

  it('fail a page whose connection says nothing any more, and read the next one over another', async () => {
    expect(await pages.read(ONE)).toEqual([{ one: 1 }]);
    line.silence();
    const outcome: unknown = await pages.read(ONE).catch((error: unknown) => error);
    expect(isConnectionLoss(outcome)).toBe(true);
    expect(await pages.read(ONE)).toEqual([{ one: 1 }]);
    expect(pages.usage()).toEqual({ total: 1, idle: 1, waiting: 0 });
  });

  it('are given up by a stop that cannot wait for them', async () => {
    await pages.read(ONE);
    line.silence();
    const hanging = pages.read(ONE).catch(() => undefined);
    await pages.close();
    await hanging;
  });
});
