import { describe, expect, it } from '@jest/globals';
import { useTestStore } from '../../../../test/support/test-store.js';
import { newSubscription } from '../testing/new-subscription.js';
import type { NewSubscription } from './create-subscriptions.js';

const suite = useTestStore();

function draft(given: Partial<NewSubscription>): NewSubscription {
  return newSubscription({ fleetId: suite.fleetId, ...given });
}

async function publishedSettings(): Promise<object[]> {
  const { rows } = await suite.sql.query<{ value: object }>('SELECT value FROM outbox WHERE key = $1 ORDER BY id', [
    suite.fleetId,
  ]);
  return rows.map(({ value }) => value);
}

describe('createSubscriptions: routes and stops of the fleet (R-9)', () => {
  const createAll = (eventTypes: readonly string[], url = 'https://a.example/') =>
    suite.store.subscriptions.create(
      eventTypes.map((eventType) => draft({ eventType, url })),
      2_000,
    );

  it('are not turned on by subscriptions to other event types', async () => {
    await createAll(['position', 'position_sleep', 'ignition_on', 'ignition_off', 'geofence_in', 'geofence_out']);
    expect(await suite.store.fleets.find(suite.fleetId)).toMatchObject({ routes: false, version: 1 });
  });

  it('are turned on once, and again by a new subscription after they were turned off', async () => {
    await createAll(['route_started', 'stop_started']);
    await createAll(['route_started'], 'https://b.example/');
    expect(await suite.store.fleets.find(suite.fleetId)).toMatchObject({ routes: true, version: 2 });
    await suite.store.fleets.update(suite.fleetId, { routes: false }, 3_000);
    await createAll(['position'], 'https://b.example/');
    expect(await suite.store.fleets.find(suite.fleetId)).toMatchObject({ routes: false, version: 3 });
    await createAll(['stop_finished'], 'https://b.example/');
    expect(await suite.store.fleets.find(suite.fleetId)).toMatchObject({ routes: true, version: 4 });
    expect(await publishedSettings()).toMatchObject([1, 2, 3, 4].map((version) => ({ version })));
  });

  it('stay off if the subscription is refused', async () => {
    await createAll(['position']);
    expect(await createAll(['route_started', 'position'])).toMatchObject({ type: 'conflict' });
    expect(await suite.store.fleets.find(suite.fleetId)).toMatchObject({ routes: false, version: 1 });
    expect(await publishedSettings()).toHaveLength(1);
    const unknownFleet = newSubscription({ fleetId: 'nobody', eventType: 'route_started' });
    expect(await suite.store.subscriptions.create([unknownFleet], 2_000)).toEqual({ type: 'fleet_not_found' });
  });

  it('are turned on once by concurrent callers, and each gets its subscription', async () => {
    const urls = Array.from({ length: 8 }, (_, n) => `https://${String(n)}.example/`);
    const results = await Promise.all(urls.map((url) => createAll(['stop_started', 'route_started'], url)));
    expect(results.map(({ type }) => type)).toEqual(urls.map(() => 'created'));
    expect(await suite.store.fleets.find(suite.fleetId)).toMatchObject({ routes: true, version: 2 });
  });

  it('are on from the start if the fleet is created with them', async () => {
    const id = `${suite.fleetId}-routes`;
    await suite.store.fleets.create({ fleetId: id, payloadFormat: 'v1', routes: true, nowMs: 1 });
    expect(await suite.store.fleets.find(id)).toMatchObject({ routes: true, version: 1 });
  });
});

describe('createSubscriptions: a conflict', () => {
  it('names the subscriptions that have the URL, and none of another URL or fleet', async () => {
    const types = ['position', 'ignition_on'];
    const createAll = (url: string, fleetId = suite.fleetId) =>
      suite.store.subscriptions.create(
        types.map((eventType) => draft({ fleetId, eventType, url })),
        2_000,
      );
    const idsOf = (result: Awaited<ReturnType<typeof createAll>>) =>
      result.type === 'created' ? result.subscriptions.map(({ id }) => id) : [];
    const other = `${suite.fleetId}-other`;
    await suite.store.fleets.create({ fleetId: other, payloadFormat: 'v1', nowMs: 1 });
    await createAll('https://before.example/');
    const [position, ignitionOn] = idsOf(await createAll('https://taken.example/'));
    await createAll('https://behind.example/');
    await createAll('https://taken.example/', other);
    expect(await createAll('https://taken.example/')).toEqual({
      type: 'conflict',
      taken: [
        { eventType: 'position', id: position },
        { eventType: 'ignition_on', id: ignitionOn },
      ],
    });
  });
});
