import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { type OperationalEvent, RETENTION_MS, type SubscriptionActivity } from '@waypost/domain';
import type { ActivityQuery } from '@waypost/history-store';
import { START_MS, useTestFleet } from '../testing/test-fleet.js';

const PATH = '/public/v1/webhook-subscriptions';
const NOTHING: SubscriptionActivity = { lastSuccessAt: null, unacceptedSince: null, pending: 0, oldestPendingAt: null };
const FAILING = { ...NOTHING, lastSuccessAt: START_MS - 9_000, unacceptedSince: START_MS - 8_000 };

let activity: SubscriptionActivity;
let asked: ActivityQuery[];
let id: string;

const suite = useTestFleet({
  activities: {
    read: (query) => {
      asked.push(query);
      return Promise.resolve(activity);
    },
  },
});
const { send } = suite;

beforeEach(async () => {
  activity = NOTHING;
  asked = [];
  const body = { eventType: 'position', url: 'https://receiver.example/hook', onOutage: 'hold' };
  id = ((await send('POST', PATH, body)).body as { data: { id: string }[] }).data[0]?.id ?? '';
});

function read(headers?: Record<string, string>) {
  return send('GET', `${PATH}/${id}`, undefined, headers);
}

function tell(type: string, occurredAt: number, about: Partial<OperationalEvent> = {}): Promise<void> {
  return suite.store.operationalEvents.keep([
    {
      id: randomUUID(),
      subscriptionId: id,
      fleetId: suite.fleetId,
      type,
      occurredAt,
      reason: 'x',
      eventId: null,
      deliveryOffset: null,
      statusCode: null,
      errorCode: null,
      ...about,
    },
  ]);
}

describe('the health of a subscription (R-16)', () => {
  it('is in a GET of it, unknown as long as nothing was attempted', async () => {
    expect((await read()).body).toMatchObject({ id, version: 1, health: { status: 'unknown', pending: 0 } });
  });

  it('is of this subscription, in the time that the history keeps', async () => {
    await read();
    expect(asked).toEqual([
      {
        fleetId: suite.fleetId,
        subscriptionId: id,
        startAt: START_MS - RETENTION_MS,
        endAt: expect.any(Number) as unknown,
      },
    ]);
    expect(asked[0]?.endAt).toBeGreaterThanOrEqual(START_MS);
  });

  it('says since when it fails, when it last did not, and what is pending', async () => {
    activity = { ...FAILING, pending: 3, oldestPendingAt: START_MS - 7_000 };
    expect((await read()).body).toMatchObject({
      health: {
        status: 'failing',
        failingSince: '2026-03-20T11:59:52.000Z',
        lastSuccessAt: '2026-03-20T11:59:51.000Z',
        pending: 3,
        oldestPendingAt: '2026-03-20T11:59:53.000Z',
      },
    });
  });

  it('has no times that are unknown', async () => {
    activity = { ...NOTHING, lastSuccessAt: START_MS };
    const { health } = (await read()).body as { health: object };
    expect(health).toEqual({ status: 'healthy', lastSuccessAt: '2026-03-20T12:00:00.000Z', pending: 0 });
  });

  it('is suspended from the operational event of that on, until the one of its end (R-29)', async () => {
    activity = FAILING;
    await tell('exhausted', START_MS - 6_000);
    await tell('suspended', START_MS - 5_000);
    for (const at of [4_000, 3_000]) await tell('probed', START_MS - at);
    const suspended = { health: { status: 'suspended', suspendedSince: '2026-03-20T11:59:55.000Z' } };
    expect((await read()).body).toMatchObject(suspended);
    await tell('resumed', START_MS - 2_000);
    const after = (await read()).body as { health: object };
    expect(after.health).toMatchObject({ status: 'failing' });
    expect(after.health).not.toHaveProperty('suspendedSince');
  });

  it('is suspended since the newest of several suspensions (R-29)', async () => {
    activity = FAILING;
    await tell('suspended', START_MS - 6_000);
    await tell('resumed', START_MS - 5_000);
    await tell('suspended', START_MS - 4_000);
    const suspended = { health: { status: 'suspended', suspendedSince: '2026-03-20T11:59:56.000Z' } };
    expect((await read()).body).toMatchObject(suspended);
  });

  it('is in lists as far as whether a subscription is suspended (R-29)', async () => {
    await send('POST', PATH, { eventType: 'ignition_on', url: 'https://receiver.example/hook' });
    // By their types: two that are made in one millisecond are in no particular order.
    const listed = async () => {
      const { data } = (await send('GET', PATH)).body as { data: { eventType: string; suspended: boolean }[] };
      return Object.fromEntries(data.map(({ eventType, suspended }) => [eventType, suspended]));
    };
    expect(await listed()).toEqual({ position: false, ignition_on: false });
    await tell('suspended', START_MS - 5_000);
    expect(await listed()).toEqual({ position: true, ignition_on: false });
    await tell('resumed', START_MS - 2_000);
    expect(await listed()).toEqual({ position: false, ignition_on: false });
  });

  it('is not touched by the events of another subscription or fleet', async () => {
    await tell('suspended', START_MS, { subscriptionId: randomUUID() });
    await tell('suspended', START_MS, { fleetId: 'other' });
    expect((await read()).body).toMatchObject({ health: { status: 'unknown' } });
  });

  it('is never hidden behind a 304: it changes without the version, whose ETag is for If-Match', async () => {
    const first = await read();
    expect(first.headers.get('etag')).toBe('"1"');
    activity = FAILING;
    for (const tag of ['"1"', '*']) {
      const again = await read({ 'if-none-match': tag });
      expect([again.status, again.body]).toMatchObject([200, { version: 1, health: { status: 'failing' } }]);
    }
  });

  it('is not as a whole in lists, nor in what a change answers; the version is in all of them', async () => {
    const { data } = (await send('GET', PATH)).body as { data: object[] };
    expect(data).toMatchObject([{ id, version: 1 }]);
    expect(data[0]).not.toHaveProperty('health');
    const changed = await send('PATCH', `${PATH}/${id}`, { status: 'paused' });
    expect(changed.body).toMatchObject({ version: 2 });
    expect(changed.body).not.toHaveProperty('health');
    expect(asked).toEqual([]);
  });
});
