import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import pg from 'pg';
import { useTestStore } from '../../../../test/support/test-store.js';
import { holdsFor, until } from '../../../../test/support/until.js';
import { openOutboxSession, type OutboxSession } from './outbox-session.js';
const sessions: OutboxSession[] = [];

const suite = useTestStore();
beforeEach(async () => {
  await suite.sql.query('TRUNCATE outbox');
});
afterEach(async () => {
  await Promise.all(sessions.splice(0).map((session) => session.close().catch(() => undefined)));
});

function build() {
  let appended = 0;
  const lost: Error[] = [];
  const open = async () => {
    const result = await openOutboxSession({
      databaseUrl: suite.databaseUrl,
      onAppended: () => void (appended += 1),
      onLost: (error) => void lost.push(error),
    });
    if (result.type === 'held') sessions.push(result.session);
    return result;
  };
  const held = async () => {
    const result = await open();
    if (result.type !== 'held') throw new Error('another session holds the lock');
    return result.session;
  };
  return { open, held, lost, appended: () => appended };
}

describe('openOutboxSession', () => {
  it('is held by one process at a time and released on close', async () => {
    const { open, held } = build();
    const first = await held();
    expect(await open()).toEqual({ type: 'busy' });
    await first.close();
    expect((await open()).type).toBe('held');
  });

  it('takes what it marks out of the lag', async () => {
    const session = await build().held();
    for (const nowMs of [1_000, 2_000])
      await suite.store.fleets.create({ fleetId: `lag-${String(nowMs)}`, payloadFormat: 'v1', nowMs });
    const ids = (await session.readWaiting(10)).map(({ id }) => id);
    const lags = [await suite.store.outbox.readLag()];
    for (const id of ids) {
      await session.markPublished([id], 3_000);
      lags.push(await suite.store.outbox.readLag());
    }
    expect(lags).toEqual([
      { waiting: 2, oldestAt: 1_000 },
      { waiting: 1, oldestAt: 2_000 },
      { waiting: 0, oldestAt: null },
    ]);
  });

  it('reads waiting rows, oldest first, until they are marked', async () => {
    const session = await build().held();
    for (const fleetId of ['o-1', 'o-2', 'o-3'])
      await suite.store.fleets.create({ fleetId, payloadFormat: 'v1', nowMs: 1_000 });
    const waiting = await session.readWaiting(10);
    expect(waiting.map((row) => row.key)).toEqual(['o-1', 'o-2', 'o-3']);
    expect(waiting[0]).toEqual({
      id: expect.any(String),
      kind: 'fleet-settings',
      key: 'o-1',
      partitionKey: null,
      value: await suite.store.fleets.find('o-1'),
    });
    expect((await session.readWaiting(2)).map((row) => row.key)).toEqual(['o-1', 'o-2']);

    await session.markPublished(
      waiting.slice(0, 2).map((row) => row.id),
      5_000,
    );
    expect((await session.readWaiting(10)).map((row) => row.key)).toEqual(['o-3']);
    await session.markPublished(
      waiting.slice(2).map((row) => row.id),
      6_000,
    );

    expect(await session.trim(5_001)).toBe(2);
    expect(await session.trim(5_001)).toBe(0);
  });

  it('keeps no value of what it has marked, and every value and tombstone that waits', async () => {
    const session = await build().held();
    await suite.store.fleets.create({ fleetId: 'v-1', payloadFormat: 'v1', nowMs: 1_000 });
    await suite.store.fleets.create({ fleetId: 'v-2', payloadFormat: 'v1', nowMs: 1_000 });
    await suite.sql.query("INSERT INTO outbox (kind, key, created_at) VALUES ('geofence', 'v-3', now())");
    const [first] = await session.readWaiting(10);
    await session.markPublished([first?.id ?? ''], 5_000);
    const waiting = await session.readWaiting(10);
    expect(waiting.map(({ key, value }) => [key, value])).toEqual([
      ['v-2', await suite.store.fleets.find('v-2')],
      ['v-3', null],
    ]);
    const { rows } = await suite.sql.query('SELECT key FROM outbox WHERE value IS NULL ORDER BY id');
    expect(rows).toEqual([{ key: 'v-1' }, { key: 'v-3' }]);
  });

  it('is notified at once when another process appends', async () => {
    const built = build();
    await built.held();
    await suite.store.fleets.create({ fleetId: 'notified', payloadFormat: 'v1', nowMs: 1 });
    await until(() => built.appended() > 0);
  });

  it('reports a lost connection, which releases the lock', async () => {
    const built = build();
    const session = await built.held();
    const admin = new pg.Client({ connectionString: suite.databaseUrl });
    await admin.connect();
    await admin.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'waypost-outbox' AND datname = current_database()",
    );
    await admin.end();
    await until(() => built.lost.length > 0);
    await expect(session.readWaiting(1)).rejects.toThrow();
    expect(built.lost).toHaveLength(1);
    expect((await built.open()).type).toBe('held');
  });

  it('has the server look for a holder whose host is gone, which would keep the lock for hours', async () => {
    const connected = jest.spyOn(pg.Client.prototype, 'connect');
    await build().held();
    const client = connected.mock.contexts.at(-1) as pg.Client;
    connected.mockRestore();
    const names = ['keepalives_idle', 'keepalives_interval', 'keepalives_count', 'user_timeout'];
    const settings = await client.query(
      `SELECT ${names.map((name) => `current_setting('tcp_${name}') AS ${name}`).join(', ')}`,
    );
    expect(settings.rows).toEqual([
      { keepalives_idle: '5', keepalives_interval: '2', keepalives_count: '3', user_timeout: '10000' },
    ]);
  });

  it('reports nothing when it is closed', async () => {
    const built = build();
    await (await built.held()).close();
    await holdsFor(50, () => expect(built.lost).toEqual([]));
  });

  it('rejects when the database cannot be reached', async () => {
    const options = {
      databaseUrl: 'postgres://127.0.0.1:1/none',
      onAppended: () => undefined,
      onLost: () => undefined,
    };
    await expect(openOutboxSession(options)).rejects.toThrow('ECONNREFUSED');
  });
});
