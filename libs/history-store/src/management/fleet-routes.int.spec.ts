import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { createDataSource } from '../data-source.js';
import { migrations } from '../migrations/index.js';
import { type ManagementStore, openManagementStore } from './management-store.js';
import { FleetRoutes1760000800000 } from './migrations/fleet-routes-1760000800000.js';
import type { NewSubscription } from './subscription.js';
import { newSubscription } from './testing/new-subscription.js';
import { createTestDatabase, type TestDatabase } from './testing/test-database.js';

let database: TestDatabase;
let store: ManagementStore & { close(): Promise<void> };
let sql: pg.Client;
let fleetId: string;

beforeAll(async () => {
  database = await createTestDatabase(process.env['WAYPOST_TEST_DATABASE_URL'] ?? '');
  store = await openManagementStore(database.url);
  sql = new pg.Client({ connectionString: database.url });
  await sql.connect();
});
afterAll(async () => {
  await sql.end();
  await store.close();
  await database.drop();
});
beforeEach(async () => {
  fleetId = `fleet-${randomBytes(4).toString('hex')}`;
  await store.createFleet({ fleetId, payloadFormat: 'v1', nowMs: 1_000 });
});

const draft = (given: Partial<NewSubscription>): NewSubscription => newSubscription({ fleetId, ...given });

async function publishedSettings(): Promise<object[]> {
  const { rows } = await sql.query<{ value: object }>('SELECT value FROM outbox WHERE key = $1 ORDER BY id', [fleetId]);
  return rows.map(({ value }) => value);
}

describe('routes and stops of a fleet (R-9)', () => {
  const turnedOn = () => ({ kind: 'fleet-settings', value: { fleetId, routes: true, version: 2, updatedAt: 2_000 } });
  const createAll = (eventTypes: readonly string[], url = 'https://a.example/') =>
    store.subscriptions.create(
      eventTypes.map((eventType) => draft({ eventType, url })),
      2_000,
    );

  it.each(['route_started', 'route_finished', 'stop_started', 'stop_finished'])(
    'are turned on with a subscription to %s, in its transaction and published before it',
    async (eventType) => {
      const given = draft({ eventType });
      const result = await store.subscriptions.create([draft({ eventType: 'position' }), given], 2_000);
      if (result.type !== 'created') throw new Error(result.type);
      expect(await store.findFleet(fleetId)).toMatchObject({ routes: true, version: 2, updatedAt: 2_000 });
      const { rows } = await sql.query('SELECT kind, value FROM outbox WHERE id = ANY($1::bigint[]) ORDER BY id', [
        result.outboxIds,
      ]);
      const subscriptions = result.subscriptions.map((value) => ({ kind: 'webhook-subscription', value }));
      expect(rows).toMatchObject([turnedOn(), ...subscriptions]);
    },
  );

  it('are left alone by subscriptions to anything else', async () => {
    await createAll(['position', 'position_sleep', 'ignition_on', 'ignition_off', 'geofence_in', 'geofence_out']);
    expect(await store.findFleet(fleetId)).toMatchObject({ routes: false, version: 1 });
  });

  it('are turned on once, and again by a new subscription after they were turned off', async () => {
    await createAll(['route_started', 'stop_started']);
    await createAll(['route_started'], 'https://b.example/');
    expect(await store.findFleet(fleetId)).toMatchObject({ routes: true, version: 2 });
    await store.updateFleet(fleetId, { routes: false }, 3_000);
    await createAll(['position'], 'https://b.example/');
    expect(await store.findFleet(fleetId)).toMatchObject({ routes: false, version: 3 });
    await createAll(['stop_finished'], 'https://b.example/');
    expect(await store.findFleet(fleetId)).toMatchObject({ routes: true, version: 4 });
    expect(await publishedSettings()).toMatchObject([1, 2, 3, 4].map((version) => ({ version })));
  });

  it('stay off when the subscription is refused', async () => {
    await createAll(['position']);
    expect(await createAll(['route_started', 'position'])).toMatchObject({ type: 'conflict' });
    expect(await store.findFleet(fleetId)).toMatchObject({ routes: false, version: 1 });
    expect(await publishedSettings()).toHaveLength(1);
    const nobody = newSubscription({ fleetId: 'nobody', eventType: 'route_started' });
    expect(await store.subscriptions.create([nobody], 2_000)).toEqual({ type: 'fleet_not_found' });
  });

  it('are turned on once by callers at the same time, and each has its subscription', async () => {
    const urls = Array.from({ length: 8 }, (_, n) => `https://${String(n)}.example/`);
    const results = await Promise.all(urls.map((url) => createAll(['stop_started', 'route_started'], url)));
    expect(results.map(({ type }) => type)).toEqual(urls.map(() => 'created'));
    expect(await store.findFleet(fleetId)).toMatchObject({ routes: true, version: 2 });
  });

  it('are wanted from the beginning when the fleet is made so', async () => {
    const id = `${fleetId}-routes`;
    await store.createFleet({ fleetId: id, payloadFormat: 'v1', routes: true, nowMs: 1 });
    expect(await store.findFleet(id)).toMatchObject({ routes: true, version: 1 });
  });
});

it('routes are turned on for the fleets that have subscribed to them before there was a setting, and that is published', async () => {
  const old = await createTestDatabase(process.env['WAYPOST_TEST_DATABASE_URL'] ?? '');
  const dataSource = await createDataSource(old.url).initialize();
  const since = migrations.indexOf(FleetRoutes1760000800000);
  for (let left = migrations.length - since; left > 0; left -= 1) await dataSource.undoLastMigration();
  const at = '2026-03-20T12:00:00.123Z';
  for (const [fleetId, eventType] of [
    ['asks', 'stop_finished'],
    ['does-not', 'position'],
  ]) {
    await dataSource.query("INSERT INTO fleets VALUES ($1, 'legacy-v1', 4, $2, $2, 'Vans')", [fleetId, at]);
    await dataSource.query(
      `INSERT INTO webhook_subscriptions
         (id, fleet_id, event_type, url, status, payload_format, secrets, on_outage, strict_order, version, created_at, updated_at)
       VALUES (gen_random_uuid(), $1, $2, 'https://a.example/', 'active', 'v1', '[]', 'fail', false, 1, $3, $3)`,
      [fleetId, eventType, at],
    );
  }
  await dataSource.runMigrations();

  const fleets: object[] = await dataSource.query('SELECT fleet_id, routes, version FROM fleets ORDER BY fleet_id');
  expect(fleets).toEqual([
    { fleet_id: 'asks', routes: true, version: 5 },
    { fleet_id: 'does-not', routes: false, version: 4 },
  ]);
  const [asks] = await dataSource.query<{ updated_at: Date }[]>("SELECT * FROM fleets WHERE fleet_id = 'asks'");
  const settings = { fleetId: 'asks', name: 'Vans', payloadFormat: 'legacy-v1', routes: true, version: 5 };
  const published: object[] = await dataSource.query('SELECT kind, key, value, published_at FROM outbox');
  expect(published).toEqual([
    {
      ...{ kind: 'fleet-settings', key: 'asks', published_at: null },
      value: { ...settings, createdAt: Date.parse(at), updatedAt: asks?.updated_at.getTime() },
    },
  ]);
  await dataSource.destroy();
  await old.drop();
});
