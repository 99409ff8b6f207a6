import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type pg from 'pg';
import { type OperationalEvent, testDelivery, type WebhookSubscription } from '@waypost/domain';
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

function draft(given: Partial<NewSubscription> = {}): NewSubscription {
  return newSubscription({ fleetId, ...given });
}

interface OutboxRow {
  kind: string;
  key: string;
  value: { version: number } | null;
}
async function outboxOf(key: string): Promise<OutboxRow[]> {
  const rows = await sql.query<OutboxRow>('SELECT kind, key, value FROM outbox WHERE key = $1 ORDER BY id', [key]);
  return rows.rows;
}

async function create(given: Partial<NewSubscription> = {}) {
  const result = await store.subscriptions.create([draft(given)], 2_000);
  const [subscription] = result.type === 'created' ? result.subscriptions : [];
  if (subscription === undefined) throw new Error(`not created: ${result.type}`);
  return subscription;
}

describe('subscriptions', () => {
  it('keep every field and are appended to the outbox unchanged', async () => {
    const given = draft({
      deviceIds: ['b', 'a,"{}\\', 'é'],
      auth: { tokenUrl: 'https://id.example/token', clientId: 'c', sealedClientSecret: 's', scope: null },
      payloadFormat: 'legacy-v1',
    });
    const result = await store.subscriptions.create([given], 2_345);
    const decided = { status: 'active', disabledReason: null, version: 1, createdAt: 2_345, updatedAt: 2_345 };
    const expected = { ...given, ...decided };

    expect(result).toMatchObject({ type: 'created', subscriptions: [expected] });
    expect(await store.subscriptions.get({ fleetId, id: given.id })).toEqual(expected);
    expect(await outboxOf(given.id)).toEqual([{ kind: 'webhook-subscription', key: given.id, value: expected }]);
  });

  it('are created all or none, in the given order', async () => {
    const types = ['position', 'ignition_on', 'geofence_in'];
    const made = await store.subscriptions.create(
      types.map((eventType) => draft({ eventType })),
      1,
    );
    expect(made.type === 'created' && made.subscriptions.map((subscription) => subscription.eventType)).toEqual(types);

    const again = ['ignition_off', 'position', 'ignition_on'].map((eventType) => draft({ eventType }));
    const idOf = new Map(made.type === 'created' ? made.subscriptions.map((one) => [one.eventType, one.id]) : []);
    const taken = ['position', 'ignition_on'].map((eventType) => ({ eventType, id: idOf.get(eventType) }));
    expect(await store.subscriptions.create(again, 2)).toEqual({ type: 'conflict', taken });
    expect(await store.subscriptions.list({ fleetId, limit: 10, after: null })).toHaveLength(3);
    for (const { id } of again) expect(await outboxOf(id)).toEqual([]);
  });

  it.each(['ignition_off', 'ignition_on', 'position'])('name the existing one in a conflict: %s', async (eventType) => {
    const { id } = await create({ eventType });
    const three = ['position', 'ignition_on', 'ignition_off'].map((type) => draft({ eventType: type }));
    expect(await store.subscriptions.create(three, 2)).toEqual({ type: 'conflict', taken: [{ eventType, id }] });
  });

  it('are created once if two callers give the same types in different orders at the same time', async () => {
    const types = ['position', 'ignition_on', 'ignition_off', 'geofence_in'];
    const results = await Promise.all([
      store.subscriptions.create(
        types.map((eventType) => draft({ eventType })),
        1,
      ),
      store.subscriptions.create(
        [...types].reverse().map((eventType) => draft({ eventType })),
        1,
      ),
    ]);
    expect(results.map((result) => result.type).sort()).toEqual(['conflict', 'created']);
  });

  it('need a fleet', async () => {
    expect(await store.subscriptions.create([draft({ fleetId: 'nobody' })], 1)).toEqual({ type: 'fleet_not_found' });
  });

  it('are visible to their fleet only', async () => {
    const { id } = await create();
    const foreign = { fleetId: `${fleetId}-other`, id };
    expect(await store.subscriptions.get(foreign)).toBeNull();
    expect(await store.subscriptions.update(foreign, { status: 'paused' }, 3)).toEqual({ type: 'not_found' });
    expect(await store.subscriptions.delete(foreign, 3)).toEqual({ type: 'not_found' });
    const rotation = { sealed: 's', oldSignsUntil: 9, nowMs: 3 };
    expect(await store.subscriptions.rotateSecret(foreign, rotation)).toEqual({ type: 'not_found' });
    expect(await outboxOf(id)).toHaveLength(1);
  });

  it('get one outbox row per version, and end with a tombstone', async () => {
    const { id } = await create();
    const ref = { fleetId, id };
    const paused = await store.subscriptions.update(ref, { status: 'paused', deviceIds: ['d'] }, 3_000);
    expect(paused).toMatchObject({
      type: 'changed',
      subscription: { status: 'paused', deviceIds: ['d'], version: 2, updatedAt: 3_000 },
    });
    const moved = await store.subscriptions.update(ref, { url: 'https://b.example', deviceIds: null }, 4_000);
    expect(moved).toMatchObject({
      subscription: { url: 'https://b.example', deviceIds: null, version: 3, createdAt: 2_000 },
    });
    expect((await store.subscriptions.delete(ref, 5_000)).type).toBe('deleted');

    expect(await store.subscriptions.get(ref)).toBeNull();
    expect((await outboxOf(id)).map((row) => row.value?.version ?? null)).toEqual([1, 2, 3, null]);
    expect((await outboxOf(id))[2]?.value).toEqual(moved.type === 'changed' ? moved.subscription : null);
  });

  it('get no new version if nothing changes', async () => {
    const { id } = await create({ deviceIds: ['a'] });
    const result = await store.subscriptions.update({ fleetId, id }, { status: 'active', deviceIds: ['a'] }, 9_000);
    expect(result).toMatchObject({ type: 'unchanged', subscription: { version: 1, updatedAt: 2_000 } });
    expect(await outboxOf(id)).toHaveLength(1);
  });

  it('cannot change to a URL that has a subscription of their event type', async () => {
    const rival = await create({ url: 'https://a.example' });
    const { id } = await create({ url: 'https://b.example' });
    const moved = await store.subscriptions.update({ fleetId, id }, { url: 'https://a.example' }, 3);
    expect(moved).toEqual({ type: 'conflict', id: rival.id });
    expect(await store.subscriptions.get({ fleetId, id })).toMatchObject({ url: 'https://b.example', version: 1 });
    expect(await outboxOf(id)).toHaveLength(1);
  });

  it('get one version for each of many concurrent changes, in the order of the outbox', async () => {
    const { id } = await create();
    const changes = Array.from({ length: 12 }, (_, index) => ({ deviceIds: [`d-${String(index)}`] }));
    await Promise.all(changes.map((change) => store.subscriptions.update({ fleetId, id }, change, 3_000)));
    const versions = (await outboxOf(id)).map((row) => row.value?.version);
    expect(versions).toEqual(Array.from({ length: 13 }, (_, index) => index + 1));
  });

  it('keep an earlier secret until it expires, newest first', async () => {
    const { id } = await create();
    const ref = { fleetId, id };
    const day = 86_400_000;
    const rotate = (sealed: string, nowMs: number) =>
      store.subscriptions.rotateSecret(ref, { sealed, nowMs, oldSignsUntil: nowMs + day });

    await rotate('two', 10_000);
    expect(await rotate('three', 20_000)).toMatchObject({
      type: 'changed',
      subscription: {
        version: 3,
        secrets: [
          { sealed: 'three', expiresAt: null },
          { sealed: 'two', expiresAt: 20_000 + day },
          { sealed: 'sealed-1', expiresAt: 10_000 + day },
        ],
      },
    });
    expect(await rotate('four', 10_000 + day)).toMatchObject({
      subscription: {
        secrets: [
          { sealed: 'four', expiresAt: null },
          { sealed: 'three', expiresAt: 10_000 + 2 * day },
          { sealed: 'two', expiresAt: 20_000 + day },
        ],
      },
    });
  });

  it('refuse a rotation when eight earlier secrets still sign', async () => {
    const { id } = await create();
    const rotate = (nowMs: number) =>
      store.subscriptions.rotateSecret(
        { fleetId, id },
        { sealed: `at-${String(nowMs)}`, nowMs, oldSignsUntil: nowMs + 1_000 },
      );
    for (let nowMs = 1; nowMs <= 7; nowMs++) expect((await rotate(nowMs)).type).toBe('changed');
    expect(await rotate(8)).toEqual({ type: 'too_many_secrets', retryAt: 1_001 });
    expect((await rotate(1_001)).type).toBe('changed');
  });

  it('are listed oldest first, page by page', async () => {
    const made: string[] = [];
    for (const [index, createdAt] of [30, 10, 10, 20].entries()) {
      const [one] = [draft({ url: `https://r.example/${String(index)}` })];
      await store.subscriptions.create([one], createdAt);
      made.push(one.id);
    }
    const all = await store.subscriptions.list({ fleetId, limit: 10, after: null });
    expect(all.map((subscription) => subscription.createdAt)).toEqual([10, 10, 20, 30]);
    const walked: string[] = [];
    let after: { createdAt: number; id: string } | null = null;
    for (;;) {
      const [next] = await store.subscriptions.list({ fleetId, limit: 1, after });
      if (next === undefined) break;
      walked.push(next.id);
      after = { createdAt: next.createdAt, id: next.id };
    }
    expect(walked).toEqual(all.map((subscription) => subscription.id));
    expect([...walked].sort()).toEqual([...made].sort());
  });
});

describe('a subscription whose deliveries only fail', () => {
  const disabled = ({ id }: { id: string }, occurredAt: number): OperationalEvent => ({
    id: randomUUID(),
    subscriptionId: id,
    fleetId,
    type: 'disabled',
    occurredAt,
    reason: 'Nothing but failures for 7 days.',
    eventId: null,
    deliveryOffset: null,
    statusCode: 500,
    errorCode: null,
  });

  it('is disabled with the reason, as a new version in the outbox', async () => {
    const { id } = await create();
    const result = await store.subscriptions.disable(disabled({ id }, 3_000), 4_000);
    const expected = {
      status: 'disabled',
      disabledReason: 'Nothing but failures for 7 days.',
      version: 2,
      updatedAt: 4_000,
    };
    expect(result).toMatchObject({ type: 'changed', subscription: expected, outboxIds: [expect.any(String)] });
    expect(await store.subscriptions.get({ fleetId, id })).toMatchObject(expected);
    expect((await outboxOf(id)).map((row) => row.value)).toEqual([
      expect.objectContaining({ version: 1, status: 'active' }),
      expect.objectContaining(expected),
    ]);
  });

  it('is unchanged if the event is repeated, or after a change by its owner', async () => {
    const { id } = await create();
    const event = disabled({ id }, 3_000);
    await store.subscriptions.disable(event, 4_000);
    expect((await store.subscriptions.disable(event, 5_000)).type).toBe('unchanged');

    const enabled = await store.subscriptions.update({ fleetId, id }, { status: 'active' }, 6_000);
    expect(enabled).toMatchObject({ subscription: { status: 'active', disabledReason: null, version: 3 } });
    expect((await store.subscriptions.disable(event, 7_000)).type).toBe('unchanged');
    expect((await store.subscriptions.disable(disabled({ id }, 5_999), 7_000)).type).toBe('unchanged');
    expect(await outboxOf(id)).toHaveLength(3);

    expect((await store.subscriptions.disable(disabled({ id }, 6_000), 7_000)).type).toBe('changed');
  });

  it('is unchanged while it is paused', async () => {
    const { id } = await create();
    await store.subscriptions.update({ fleetId, id }, { status: 'paused' }, 3_000);
    const result = await store.subscriptions.disable(disabled({ id }, 9_000), 9_000);
    expect(result).toMatchObject({ type: 'unchanged', subscription: { status: 'paused' } });
  });

  it('keeps its reason after other changes', async () => {
    const { id } = await create();
    await store.subscriptions.disable(disabled({ id }, 3_000), 4_000);
    await store.subscriptions.update({ fleetId, id }, { deviceIds: ['a'] }, 5_000);
    expect(await store.subscriptions.get({ fleetId, id })).toMatchObject({
      status: 'disabled',
      disabledReason: 'Nothing but failures for 7 days.',
    });
  });

  it('is not found if it was deleted or belongs to another fleet', async () => {
    const { id } = await create();
    expect(await store.subscriptions.disable({ ...disabled({ id }, 9_000), fleetId: 'other' }, 1)).toEqual({
      type: 'not_found',
    });
    await store.subscriptions.delete({ fleetId, id }, 3_000);
    expect(await store.subscriptions.disable(disabled({ id }, 9_000), 9_000)).toEqual({ type: 'not_found' });
  });
});

describe('a test delivery', () => {
  const make = (subscription: WebhookSubscription) => testDelivery(subscription, { requestId: 'r-1', nowMs: 5_000 });

  it('of an active subscription is appended to the outbox', async () => {
    const subscription = await create();
    const result = await store.subscriptions.sendTest({ fleetId, id: subscription.id }, make, 5_000);
    const delivery = make(subscription);
    expect(result).toEqual({ type: 'queued', delivery, outboxIds: [expect.any(String)] });
    expect((await outboxOf(subscription.id)).at(-1)).toEqual({
      kind: 'webhook-delivery',
      key: subscription.id,
      value: delivery,
    });
    expect(await store.subscriptions.get({ fleetId, id: subscription.id })).toEqual(subscription);
  });

  it('is refused for an inactive or unknown subscription', async () => {
    const { id } = await create();
    await store.subscriptions.update({ fleetId, id }, { status: 'paused' }, 3_000);
    const refused = await store.subscriptions.sendTest({ fleetId, id }, make, 5_000);
    expect(refused).toMatchObject({ type: 'not_active', subscription: { status: 'paused' } });
    expect(await store.subscriptions.sendTest({ fleetId: 'other', id }, make, 5_000)).toEqual({ type: 'not_found' });
    expect((await outboxOf(id)).map((row) => row.kind)).toEqual(['webhook-subscription', 'webhook-subscription']);
  });
});
