import { describe, expect, it } from '@jest/globals';
import { useTestStore } from '../../../test/support/test-store.js';
import type { NewSubscription } from './stores/create-subscriptions.js';
import { newSubscription } from './testing/new-subscription.js';
import { outboxOf } from './testing/outbox-rows.js';

const suite = useTestStore();

function draft(given: Partial<NewSubscription> = {}): NewSubscription {
  return newSubscription({ fleetId: suite.fleetId, ...given });
}

describe('fleets', () => {
  it('are created once, with their settings in the outbox', async () => {
    const id = `${suite.fleetId}-b`;
    const fleet = {
      fleetId: id,
      name: null,
      payloadFormat: 'legacy-v1',
      routes: false,
      version: 1,
      createdAt: 5_001,
      updatedAt: 5_001,
    };
    const made = await suite.store.fleets.create({ fleetId: id, payloadFormat: 'legacy-v1', nowMs: 5_001 });

    expect(made).toEqual({ type: 'created', fleet, outboxIds: [expect.any(String)] });
    expect(await suite.store.fleets.create({ fleetId: id, payloadFormat: 'v1', nowMs: 6_000 })).toEqual({
      type: 'exists',
    });
    expect(await suite.store.fleets.find(id)).toEqual(fleet);
    expect(await outboxOf(suite.sql, id)).toEqual([{ kind: 'fleet-settings', key: id, value: fleet }]);
  });

  it('are created once even if two callers try at the same time', async () => {
    const fleet = { fleetId: `${suite.fleetId}-race`, payloadFormat: 'v1', nowMs: 1 } as const;
    const results = await Promise.all([suite.store.fleets.create(fleet), suite.store.fleets.create(fleet)]);
    expect(results.map((result) => result.type).sort()).toEqual(['created', 'exists']);
    expect(await outboxOf(suite.sql, fleet.fleetId)).toHaveLength(1);
  });

  it.each(['', 'a b', 'a\u001fb', '.hidden', 'x'.repeat(129), 'ä'])('refuse the id %j', async (id) => {
    expect((await suite.store.fleets.create({ fleetId: id, payloadFormat: 'v1', nowMs: 1 })).type).toBe('invalid');
  });
});

describe('API keys', () => {
  it('are refused for an unknown fleet', async () => {
    expect(await suite.store.apiKeys.create({ fleetId: 'unknown-fleet', scopes: [], nowMs: 1 })).toEqual({
      type: 'fleet_not_found',
    });
  });
});

describe('outbox.isPublished', () => {
  it('is true once every row is marked as published', async () => {
    const made = await suite.store.subscriptions.create([draft(), draft({ eventType: 'ignition_on' })], 1);
    const ids = made.type === 'created' ? made.outboxIds : [];
    expect(ids).toHaveLength(2);
    expect(await suite.store.outbox.isPublished(ids)).toBe(false);
    await suite.sql.query('UPDATE outbox SET published_at = now() WHERE id = $1', [ids[0]]);
    expect(await suite.store.outbox.isPublished(ids)).toBe(false);
    await suite.sql.query('UPDATE outbox SET published_at = now() WHERE id = $1', [ids[1]]);
    expect(await suite.store.outbox.isPublished(ids)).toBe(true);
  });
});
