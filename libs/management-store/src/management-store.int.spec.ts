import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type pg from 'pg';
import { hashApiKey } from '@waypost/domain';
import { openTestStore, type TestStore } from '../../../test/support/test-store.js';
import { API_KEY_SCOPES } from './api-key-store.js';
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

describe('fleets', () => {
  it('are created once, with their settings in the outbox', async () => {
    const id = `${fleetId}-b`;
    const fleet = {
      fleetId: id,
      name: null,
      payloadFormat: 'legacy-v1',
      routes: false,
      version: 1,
      createdAt: 5_001,
      updatedAt: 5_001,
    };
    const made = await store.fleets.create({ fleetId: id, payloadFormat: 'legacy-v1', nowMs: 5_001 });

    expect(made).toEqual({ type: 'created', fleet, outboxIds: [expect.any(String)] });
    expect(await store.fleets.create({ fleetId: id, payloadFormat: 'v1', nowMs: 6_000 })).toEqual({ type: 'exists' });
    expect(await store.fleets.find(id)).toEqual(fleet);
    expect(await outboxOf(id)).toEqual([{ kind: 'fleet-settings', key: id, value: fleet }]);
  });

  it('are created once even if two callers try at the same time', async () => {
    const fleet = { fleetId: `${fleetId}-race`, payloadFormat: 'v1', nowMs: 1 } as const;
    const results = await Promise.all([store.fleets.create(fleet), store.fleets.create(fleet)]);
    expect(results.map((result) => result.type).sort()).toEqual(['created', 'exists']);
    expect(await outboxOf(fleet.fleetId)).toHaveLength(1);
  });

  it.each(['', 'a b', 'a\u001fb', '.hidden', 'x'.repeat(129), 'ä'])('refuse the id %j', async (id) => {
    expect((await store.fleets.create({ fleetId: id, payloadFormat: 'v1', nowMs: 1 })).type).toBe('invalid');
  });
});

describe('API keys', () => {
  it('are shown once and found by their hash, never stored', async () => {
    const made = await store.apiKeys.create({ fleetId, scopes: API_KEY_SCOPES, nowMs: 3_000 });
    if (made.type !== 'created') throw new Error(made.type);

    expect(made.key).toMatch(/^wp_[A-Za-z0-9_-]{43}$/);
    expect(await store.apiKeys.find(hashApiKey(made.key))).toEqual({
      id: made.id,
      fleetId,
      hash: hashApiKey(made.key),
      scopes: API_KEY_SCOPES,
    });
    const dump = await sql.query<{ row: string }>('SELECT api_keys::text AS row FROM api_keys');
    expect(dump.rows.some(({ row }) => row.includes(made.key))).toBe(false);
  });

  it('are not found if they are revoked or unknown', async () => {
    const made = await store.apiKeys.create({ fleetId, scopes: ['events:read'], nowMs: 3_000 });
    if (made.type !== 'created') throw new Error(made.type);
    await sql.query('UPDATE api_keys SET revoked_at = now() WHERE id = $1', [made.id]);
    expect(await store.apiKeys.find(hashApiKey(made.key))).toBeNull();
    expect(await store.apiKeys.find(hashApiKey('wp_other'))).toBeNull();
  });

  it('need a fleet', async () => {
    expect(await store.apiKeys.create({ fleetId: 'nobody', scopes: [], nowMs: 1 })).toEqual({
      type: 'fleet_not_found',
    });
  });
});

describe('outbox.isPublished', () => {
  it('is true once every row is marked as published', async () => {
    const made = await store.subscriptions.create([draft(), draft({ eventType: 'ignition_on' })], 1);
    const ids = made.type === 'created' ? made.outboxIds : [];
    expect(ids).toHaveLength(2);
    expect(await store.outbox.isPublished(ids)).toBe(false);
    await sql.query('UPDATE outbox SET published_at = now() WHERE id = $1', [ids[0]]);
    expect(await store.outbox.isPublished(ids)).toBe(false);
    await sql.query('UPDATE outbox SET published_at = now() WHERE id = $1', [ids[1]]);
    expect(await store.outbox.isPublished(ids)).toBe(true);
  });
});
