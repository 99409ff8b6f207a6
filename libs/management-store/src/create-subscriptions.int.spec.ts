import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type pg from 'pg';
import { openTestStore, type TestStore } from '../../../test/support/test-store.js';
import type { NewSubscription } from './create-subscriptions.js';
import type { ManagementStore } from './management-store.js';
import { newSubscription } from './testing/new-subscription.js';

let database: TestStore;
let store: ManagementStore;
let sql: pg.Client;
let fleetId: string;

beforeAll(async () => {
  database = await openTestStore();
  ({ store, sql } = database);
});
afterAll(async () => {
  await database.close();
});
beforeEach(async () => {
  fleetId = `fleet-${randomBytes(4).toString('hex')}`;
  await store.fleets.create({ fleetId, payloadFormat: 'v1', nowMs: 1_000 });
});

function draft(given: Partial<NewSubscription>): NewSubscription {
  return newSubscription({ fleetId, ...given });
}

async function publishedSettings(): Promise<object[]> {
  const { rows } = await sql.query<{ value: object }>('SELECT value FROM outbox WHERE key = $1 ORDER BY id', [fleetId]);
  return rows.map(({ value }) => value);
}

describe('createSubscriptions: routes and stops of the fleet (R-9)', () => {
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
      expect(await store.fleets.find(fleetId)).toMatchObject({ routes: true, version: 2, updatedAt: 2_000 });
      const { rows } = await sql.query('SELECT kind, value FROM outbox WHERE id = ANY($1::bigint[]) ORDER BY id', [
        result.outboxIds,
      ]);
      const subscriptions = result.subscriptions.map((value) => ({ kind: 'webhook-subscription', value }));
      expect(rows).toMatchObject([turnedOn(), ...subscriptions]);
    },
  );

  it('are not turned on by subscriptions to other event types', async () => {
    await createAll(['position', 'position_sleep', 'ignition_on', 'ignition_off', 'geofence_in', 'geofence_out']);
    expect(await store.fleets.find(fleetId)).toMatchObject({ routes: false, version: 1 });
  });

  it('are turned on once, and again by a new subscription after they were turned off', async () => {
    await createAll(['route_started', 'stop_started']);
    await createAll(['route_started'], 'https://b.example/');
    expect(await store.fleets.find(fleetId)).toMatchObject({ routes: true, version: 2 });
    await store.fleets.update(fleetId, { routes: false }, 3_000);
    await createAll(['position'], 'https://b.example/');
    expect(await store.fleets.find(fleetId)).toMatchObject({ routes: false, version: 3 });
    await createAll(['stop_finished'], 'https://b.example/');
    expect(await store.fleets.find(fleetId)).toMatchObject({ routes: true, version: 4 });
    expect(await publishedSettings()).toMatchObject([1, 2, 3, 4].map((version) => ({ version })));
  });

  it('stay off if the subscription is refused', async () => {
    await createAll(['position']);
    expect(await createAll(['route_started', 'position'])).toMatchObject({ type: 'conflict' });
    expect(await store.fleets.find(fleetId)).toMatchObject({ routes: false, version: 1 });
    expect(await publishedSettings()).toHaveLength(1);
    const unknownFleet = newSubscription({ fleetId: 'nobody', eventType: 'route_started' });
    expect(await store.subscriptions.create([unknownFleet], 2_000)).toEqual({ type: 'fleet_not_found' });
  });

  it('are turned on once by concurrent callers, and each gets its subscription', async () => {
    const urls = Array.from({ length: 8 }, (_, n) => `https://${String(n)}.example/`);
    const results = await Promise.all(urls.map((url) => createAll(['stop_started', 'route_started'], url)));
    expect(results.map(({ type }) => type)).toEqual(urls.map(() => 'created'));
    expect(await store.fleets.find(fleetId)).toMatchObject({ routes: true, version: 2 });
  });

  it('are on from the start if the fleet is created with them', async () => {
    const id = `${fleetId}-routes`;
    await store.fleets.create({ fleetId: id, payloadFormat: 'v1', routes: true, nowMs: 1 });
    expect(await store.fleets.find(id)).toMatchObject({ routes: true, version: 1 });
  });
});
