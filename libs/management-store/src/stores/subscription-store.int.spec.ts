import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { MAX_PAGE_BYTES, type OperationalEvent } from '@waypost/domain';
import { useTestStore } from '../../../../test/support/test-store.js';
import { newSubscription } from '../testing/new-subscription.js';
import { outboxOf } from '../testing/outbox-rows.js';
import type { NewSubscription } from './create-subscriptions.js';
import { NO_LIMITS } from './fleet-limits.js';

const suite = useTestStore();

function draft(given: Partial<NewSubscription> = {}): NewSubscription {
  return newSubscription({ fleetId: suite.fleetId, ...given });
}

async function create(given: Partial<NewSubscription> = {}) {
  const result = await suite.store.subscriptions.create([draft(given)], 2_000);
  const [subscription] = result.type === 'created' ? result.subscriptions : [];
  if (subscription === undefined) throw new Error(`not created: ${result.type}`);
  return subscription;
}

describe('subscriptions', () => {
  it('keep every field and are appended to the outbox unchanged', async () => {
    const given = draft({
      deviceIds: ['b', 'a,"{}\\', 'é'],
      auth: {
        tokenUrl: 'https://id.example/token',
        clientId: 'c',
        sealedClientSecret: 's',
        scope: null,
        audience: null,
        tokenAuthMethod: 'client_secret_basic',
      },
      payloadFormat: 'legacy-v1',
      description: 'Gate of the depot "é"',
      metadata: { team: 'yard', id: '7' },
      headers: [
        { name: 'x-site', value: 'north', sealedValue: null },
        { name: 'x-api-key', value: null, sealedValue: 's' },
      ],
    });
    const result = await suite.store.subscriptions.create([given], 2_345);
    const decided = { status: 'active', disabledReason: null, version: 1, createdAt: 2_345, updatedAt: 2_345 };
    const expected = { ...given, ...decided };

    expect(result).toMatchObject({ type: 'created', subscriptions: [expected] });
    expect(await suite.store.subscriptions.get({ fleetId: suite.fleetId, id: given.id })).toEqual(expected);
    expect(await outboxOf(suite.sql, given.id)).toEqual([
      { kind: 'webhook-subscription', key: given.id, value: expected },
    ]);
  });

  it('that have more than a page may have are a page each (R-34a)', async () => {
    const deviceIds = ['d'.repeat(MAX_PAGE_BYTES + 1)];
    const ids = [];
    for (const eventType of ['position', 'ignition_on']) ids.push((await create({ eventType, deviceIds })).id);
    ids.sort();
    const page = { fleetId: suite.fleetId, limit: 10 };
    const first = await suite.store.subscriptions.list({ ...page, after: null });
    expect(first).toMatchObject({ rows: [{ id: ids[0] }], hasMore: true });
    const after = { createdAt: 2_000, id: ids[0] ?? '' };
    const second = await suite.store.subscriptions.list({ ...page, after });
    expect(second).toMatchObject({ rows: [{ id: ids[1] }], hasMore: false });
  });

  it('are created once if two callers give the same types in different orders at the same time', async () => {
    const types = ['position', 'ignition_on', 'ignition_off', 'geofence_in'];
    const results = await Promise.all([
      suite.store.subscriptions.create(
        types.map((eventType) => draft({ eventType })),
        1,
      ),
      suite.store.subscriptions.create(
        [...types].reverse().map((eventType) => draft({ eventType })),
        1,
      ),
    ]);
    expect(results.map((result) => result.type).sort()).toEqual(['conflict', 'created']);
  });

  it('are refused for an unknown fleet', async () => {
    expect(await suite.store.subscriptions.create([draft({ fleetId: 'unknown-fleet' })], 1)).toEqual({
      type: 'fleet_not_found',
    });
  });

  it('say which changes are still on their way when they have the wanted values already', async () => {
    const { id } = await create();
    const ref = { fleetId: suite.fleetId, id };
    await suite.sql.query('UPDATE outbox SET published_at = now() WHERE key = $1', [id]);
    const pause = () => suite.store.subscriptions.update(ref, () => ({ status: 'paused' }), 3_000);
    const paused = await pause();
    const outboxIds = paused.type === 'changed' ? paused.outboxIds : [];
    expect(outboxIds).toHaveLength(1);
    expect(await pause()).toMatchObject({ type: 'unchanged', outboxIds });
    await suite.sql.query('UPDATE outbox SET published_at = now() WHERE key = $1', [id]);
    expect(await pause()).toMatchObject({ type: 'unchanged', outboxIds: [] });
  });

  it('that cannot move to a URL say which one has their event type there', async () => {
    const [from, to] = ['https://a.example', 'https://b.example'];
    const other = await create({ url: to, eventType: 'ignition_on' });
    const rival = await create({ url: to });
    const moving = await create({ url: from });
    await create({ url: from, eventType: 'ignition_on' });
    const move = (target: object) =>
      suite.store.subscriptions.update(
        { fleetId: suite.fleetId, id: moving.id, ...target },
        () => ({ url: to }),
        3_000,
      );
    expect(await move({})).toEqual({ type: 'conflict', id: rival.id });
    // Only the named one moves: the caller does not see the other one at its URL.
    expect(await move({ scope: 'url', within: [moving.id, other.id] })).toEqual({ type: 'conflict', id: rival.id });
  });

  it('get one outbox row per version, and end with a tombstone', async () => {
    const { id } = await create();
    const ref = { fleetId: suite.fleetId, id };
    const paused = await suite.store.subscriptions.update(ref, () => ({ status: 'paused', deviceIds: ['d'] }), 3_000);
    expect(paused).toMatchObject({
      type: 'changed',
      subscription: { status: 'paused', deviceIds: ['d'], version: 2, updatedAt: 3_000 },
    });
    const moved = await suite.store.subscriptions.update(
      ref,
      () => ({ url: 'https://b.example', deviceIds: null }),
      4_000,
    );
    expect(moved).toMatchObject({
      subscription: { url: 'https://b.example', deviceIds: null, version: 3, createdAt: 2_000 },
    });
    expect((await suite.store.subscriptions.delete(ref, 5_000)).type).toBe('deleted');

    expect(await suite.store.subscriptions.get(ref)).toBeNull();
    expect((await outboxOf(suite.sql, id)).map((row) => row.value?.version ?? null)).toEqual([1, 2, 3, null]);
    expect((await outboxOf(suite.sql, id))[2]?.value).toEqual(moved.type === 'changed' ? moved.subscription : null);
  });

  it('get one version for each of many concurrent changes, in the order of the outbox', async () => {
    const { id } = await create();
    const changes = Array.from({ length: 12 }, (_, index) => ({ deviceIds: [`d-${String(index)}`] }));
    await Promise.all(
      changes.map((change) => suite.store.subscriptions.update({ fleetId: suite.fleetId, id }, () => change, 3_000)),
    );
    const versions = (await outboxOf(suite.sql, id)).map((row) => row.value?.version);
    expect(versions).toEqual(Array.from({ length: 13 }, (_, index) => index + 1));
  });

  it('keep an earlier secret until it expires, newest first', async () => {
    const { id } = await create();
    const ref = { fleetId: suite.fleetId, id };
    const day = 86_400_000;
    const rotate = (sealed: string, nowMs: number) =>
      suite.store.subscriptions.rotateSecret(ref, { sealFor: () => sealed, nowMs, oldSignsUntil: nowMs + day });

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
});

describe('a subscription whose deliveries only fail', () => {
  const disabled = ({ id }: { id: string }, occurredAt: number): OperationalEvent => ({
    id: randomUUID(),
    subscriptionId: id,
    fleetId: suite.fleetId,
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
    const result = await suite.store.subscriptions.disable(disabled({ id }, 3_000), 4_000);
    const expected = {
      status: 'disabled',
      disabledReason: 'Nothing but failures for 7 days.',
      version: 2,
      updatedAt: 4_000,
    };
    expect(result).toMatchObject({ type: 'changed', subscription: expected, outboxIds: [expect.any(String)] });
    expect(await suite.store.subscriptions.get({ fleetId: suite.fleetId, id })).toMatchObject(expected);
    expect((await outboxOf(suite.sql, id)).map((row) => row.value)).toEqual([
      expect.objectContaining({ version: 1, status: 'active' }),
      expect.objectContaining(expected),
    ]);
  });

  it('is unchanged if the event is repeated, or after a change by its owner', async () => {
    const { id } = await create();
    const event = disabled({ id }, 3_000);
    await suite.store.subscriptions.disable(event, 4_000);
    expect((await suite.store.subscriptions.disable(event, 5_000)).type).toBe('unchanged');

    const enabled = await suite.store.subscriptions.update(
      { fleetId: suite.fleetId, id },
      () => ({ status: 'active' }),
      6_000,
    );
    expect(enabled).toMatchObject({ subscription: { status: 'active', disabledReason: null, version: 3 } });
    expect((await suite.store.subscriptions.disable(event, 7_000)).type).toBe('unchanged');
    expect((await suite.store.subscriptions.disable(disabled({ id }, 5_999), 7_000)).type).toBe('unchanged');
    expect(await outboxOf(suite.sql, id)).toHaveLength(3);

    expect((await suite.store.subscriptions.disable(disabled({ id }, 6_000), 7_000)).type).toBe('changed');
  });

  it('is unchanged while it is paused', async () => {
    const { id } = await create();
    await suite.store.subscriptions.update({ fleetId: suite.fleetId, id }, () => ({ status: 'paused' }), 3_000);
    const result = await suite.store.subscriptions.disable(disabled({ id }, 9_000), 9_000);
    expect(result).toMatchObject({ type: 'unchanged', subscription: { status: 'paused' } });
  });

  it('is unchanged by an event from long before, of which no repetition tells that it still fails (R-29)', async () => {
    const { id } = await create();
    const late = await suite.store.subscriptions.disable(disabled({ id }, 3_000), 3_000 + 3 * 3_600_000);
    expect(late).toMatchObject({ type: 'unchanged', subscription: { status: 'active', version: 1 } });
  });

  it('keeps its reason after other changes', async () => {
    const { id } = await create();
    await suite.store.subscriptions.disable(disabled({ id }, 3_000), 4_000);
    await suite.store.subscriptions.update({ fleetId: suite.fleetId, id }, () => ({ deviceIds: ['a'] }), 5_000);
    expect(await suite.store.subscriptions.get({ fleetId: suite.fleetId, id })).toMatchObject({
      status: 'disabled',
      disabledReason: 'Nothing but failures for 7 days.',
    });
  });

  it('loses its reason when its owner disables it as well', async () => {
    const { id } = await create();
    await suite.store.subscriptions.disable(disabled({ id }, 3_000), 4_000);
    const target = { fleetId: suite.fleetId, id };
    const result = await suite.store.subscriptions.update(target, () => ({ status: 'disabled' }), 5_000);
    const expected = { status: 'disabled', disabledReason: null, version: 3 };
    expect(result).toMatchObject({ type: 'changed', subscription: expected });
    expect((await outboxOf(suite.sql, id)).at(-1)?.value).toMatchObject(expected);
    const again = await suite.store.subscriptions.update(target, () => ({ status: 'disabled' }), 6_000);
    expect(again).toMatchObject({ type: 'unchanged', subscription: { version: 3 } });
  });

  it('is not found if it was deleted or belongs to another fleet', async () => {
    const { id } = await create();
    expect(await suite.store.subscriptions.disable({ ...disabled({ id }, 9_000), fleetId: 'other' }, 1)).toEqual({
      type: 'not_found',
    });
    await suite.store.subscriptions.delete({ fleetId: suite.fleetId, id }, 3_000);
    expect(await suite.store.subscriptions.disable(disabled({ id }, 9_000), 9_000)).toEqual({ type: 'not_found' });
  });
});

describe('the limit on device ids (R-16)', () => {
  it('is kept by a change of all subscriptions of a URL, of which some have the ids already', async () => {
    const url = 'https://many.example/hook';
    const has = await create({ url, eventType: 'ignition_on', deviceIds: ['a', 'b'] });
    await create({ url, eventType: 'ignition_off' });
    const change = (deviceIds: number) =>
      suite.store.subscriptions.update(
        { fleetId: suite.fleetId, id: has.id, scope: 'url' },
        () => ({ deviceIds: ['a', 'b'] }),
        3_000,
        null,
        { ...NO_LIMITS, deviceIds },
      );
    expect(await change(3)).toEqual({ type: 'limit_reached', resource: 'deviceIds', limit: 3, current: 2, added: 2 });
    expect(await change(4)).toMatchObject({ type: 'changed' });
  });
});
