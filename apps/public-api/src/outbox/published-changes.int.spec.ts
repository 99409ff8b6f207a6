import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { useTestStore } from '../../../../test/support/test-store.js';
import { settlesWithin, until } from '../../../../test/support/until.js';
import { startTestApi, type TestAnswer, type TestApi } from '../testing/test-api.js';
import { START_MS } from '../testing/test-fleet.js';

const SUBSCRIPTIONS = '/public/v1/webhook-subscriptions';
const GEOFENCES = '/public/v1/geofences';
const SUBSCRIPTION = { eventType: 'position', url: 'https://receiver.example/hook' };
const GEOFENCE = { name: 'Depot', shape: { type: 'circle', center: { latitude: 1, longitude: 2 }, radiusInMeters: 3 } };
const WINDOW = { startDate: '2026-03-18T00:00:00Z', endDate: '2026-03-19T00:00:00Z' };

const suite = useTestStore(START_MS);
let api: TestApi;
let key: string;
let waits: number;
let publication: Promise<boolean>;

beforeAll(async () => {
  const untilPublished = () => {
    waits += 1;
    return publication;
  };
  api = await startTestApi({ store: suite.store, now: () => START_MS, untilPublished });
});
afterAll(() => api.close());
beforeEach(() => {
  key = api.addKey(suite.fleetId);
  publication = Promise.resolve(true);
});

function send(method: string, path: string, json?: unknown, headers: Record<string, string> = {}) {
  return api.request(path, { method, key, json, headers });
}
async function subscription(): Promise<string> {
  const { data } = (await send('POST', SUBSCRIPTIONS, SUBSCRIPTION)).body as { data: { id: string }[] };
  return `${SUBSCRIPTIONS}/${data[0]?.id ?? ''}`;
}
async function geofence(): Promise<string> {
  return `${GEOFENCES}/${((await send('POST', GEOFENCES, GEOFENCE)).body as { id: string }).id}`;
}
async function replay(): Promise<string> {
  const path = `${await subscription()}/replays`;
  return `${path}/${((await send('POST', path, WINDOW)).body as { replayId: string }).replayId}`;
}

/** Lets the change reach its topic only after it was seen that its request waits for that. */
async function answerOncePublished(request: () => Promise<TestAnswer>): Promise<TestAnswer> {
  let publish: (isPublished: boolean) => void = () => undefined;
  publication = new Promise((resolve) => (publish = resolve));
  waits = 0;
  const answer = request();
  try {
    await until(() => waits === 1);
    expect(await settlesWithin(150, answer)).toBe(false);
  } finally {
    // The API cannot close while one of its requests waits.
    publish(true);
    await Promise.allSettled([answer]);
  }
  return answer;
}

type Change = readonly [what: string, method: string, pathOf: () => string | Promise<string>, json: object | undefined];

const CHANGES: readonly Change[] = [
  ['creates a subscription', 'POST', () => SUBSCRIPTIONS, SUBSCRIPTION],
  ['changes a subscription', 'PATCH', subscription, { description: 'the yard' }],
  ['deletes a subscription', 'DELETE', subscription, undefined],
  ['rotates a secret', 'POST', async () => `${await subscription()}/rotate-secret`, undefined],
  ['starts a replay', 'POST', async () => `${await subscription()}/replays`, WINDOW],
  ['cancels a replay', 'POST', async () => `${await replay()}/cancel`, undefined],
  ['creates a geofence', 'POST', () => GEOFENCES, GEOFENCE],
  ['changes a geofence', 'PATCH', geofence, { name: 'Yard' }],
  ['deletes a geofence', 'DELETE', geofence, undefined],
  ['changes the fleet', 'PATCH', () => '/public/v1/fleet', { name: 'Tour 7' }],
];

describe('a request that', () => {
  it.each(CHANGES)(
    '%s is answered when the change is published, not before (R-17)',
    async (_, method, pathOf, json) => {
      const path = await pathOf();
      const { status } = await answerOncePublished(() => send(method, path, json));
      expect(status).toBeLessThan(300);
    },
  );

  it('is sent again with its idempotency key is answered when the change is published, not before', async () => {
    const headers = { 'idempotency-key': 'k' };
    await send('POST', GEOFENCES, GEOFENCE, headers);
    const again = await answerOncePublished(() => send('POST', GEOFENCES, GEOFENCE, headers));
    expect(again.headers.get('idempotent-replayed')).toBe('true');
  });
});
