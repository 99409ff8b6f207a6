import { beforeEach, describe, expect, it } from '@jest/globals';
import { hashApiKey } from '@waypost/domain';
import { API_KEY_SCOPES } from '@waypost/management-store';
import { untilWaitingForLocks } from '../../../../test/support/lock-waits.js';
import type { TestAnswer } from '../testing/test-api.js';
import { useTestFleet } from '../testing/test-fleet.js';

const KEYS = '/public/v1/api-keys';

const suite = useTestFleet();
/** The stored key of the fleet, which makes the others. */
let key: string;
let keyId: string;
beforeEach(async () => {
  ({ key, id: keyId } = await suite.storeKey());
});

function send(method: string, path: string, json?: unknown): Promise<TestAnswer> {
  return suite.api.request(path, { method, key, json });
}
const UNKNOWN_KEY = { status: 401, body: { error: { code: 'unauthorized', message: 'The API key is unknown.' } } };

describe('API keys of the fleet', () => {
  it('are made with scopes, shown once, and stored as their hash (R-37)', async () => {
    const answer = await send('POST', KEYS, { name: 'dashboard', scopes: ['events:read'] });
    expect(answer.status).toBe(201);
    const made = answer.body as { id: string; key: string };
    expect(answer.headers.get('location')).toBe(`${KEYS}/${made.id}`);
    expect(made).toEqual({
      id: expect.any(String),
      name: 'dashboard',
      prefix: made.key.slice(0, 9),
      scopes: ['events:read'],
      createdAt: new Date(suite.nowMs).toISOString(),
      key: expect.stringMatching(/^wp_/),
    });
    expect(await suite.store.apiKeys.find(hashApiKey(made.key))).toMatchObject({
      fleetId: suite.fleetId,
      scopes: ['events:read'],
    });
    const { rows } = await suite.sql.query<{ text: string }>('SELECT api_keys::text AS text FROM api_keys');
    expect(rows.some(({ text }) => text.includes(made.key))).toBe(false);
    expect(JSON.stringify((await send('GET', KEYS)).body)).not.toContain(made.key);
  });

  it('are given no scope that the asking key lacks', async () => {
    const { key: lesser } = await suite.storeKey({ scopes: ['keys:write', 'events:read'] });
    const json = { scopes: ['events:read', 'subscriptions:write'] };
    const answer = await suite.api.request(KEYS, { method: 'POST', key: lesser, json });
    expect(answer.status).toBe(403);
    expect(answer.body).toMatchObject({ error: { code: 'scope_not_held', details: [{ field: 'scopes.1' }] } });
    expect(answer.headers.get('www-authenticate')).toContain('subscriptions:write');
    expect(
      (await suite.api.request(KEYS, { method: 'POST', key: lesser, json: { scopes: ['events:read'] } })).status,
    ).toBe(201);
    expect((await send('POST', KEYS, { scopes: API_KEY_SCOPES })).status).toBe(201);
  });

  it('are not made with a key that was revoked a moment ago, which this process still trusts', async () => {
    const make = () => send('POST', KEYS, { scopes: API_KEY_SCOPES });
    expect((await make()).status).toBe(201);
    await suite.store.apiKeys.revoke({ fleetId: suite.fleetId, id: keyId }, suite.nowMs);
    expect(await make()).toMatchObject(UNKNOWN_KEY);
  });

  it('wait for a revocation of their maker that has begun, and are then not made', async () => {
    await suite.sql.query('BEGIN');
    await suite.sql.query('UPDATE api_keys SET revoked_at = now() WHERE id = $1', [keyId]);
    const making = send('POST', KEYS, { scopes: ['events:read'] });
    try {
      await untilWaitingForLocks(suite.sql, 1);
    } finally {
      await suite.sql.query('COMMIT');
    }
    expect(await making).toMatchObject(UNKNOWN_KEY);
  });

  it('are listed oldest first, with revoked ones', async () => {
    const ids: string[] = [];
    for (const name of ['a', 'b', 'c']) {
      suite.nowMs += 1;
      ids.push(((await send('POST', KEYS, { name, scopes: ['events:read'] })).body as { id: string }).id);
    }
    expect((await send('DELETE', `${KEYS}/${ids[1] ?? ''}`)).status).toBe(204);
    const first = (await send('GET', `${KEYS}?limit=2`)).body as { data: object[]; nextPageState: string };
    const second = (await send('GET', `${KEYS}?limit=2&pageState=${first.nextPageState}`)).body as { data: object[] };
    expect([...first.data, ...second.data]).toMatchObject([
      { id: keyId },
      { id: ids[0], name: 'a' },
      { id: ids[1], name: 'b', revokedAt: new Date(suite.nowMs).toISOString() },
      { id: ids[2], name: 'c' },
    ]);
    expect(first.data[0]).not.toHaveProperty('revokedAt');
  });

  it('are refused once revoked; revoking again changes nothing', async () => {
    suite.nowMs += 1;
    const made = (await send('POST', KEYS, { scopes: ['events:read'] })).body as { id: string; key: string };
    expect((await send('DELETE', `${KEYS}/${made.id}`)).status).toBe(204);
    suite.nowMs += 1_000;
    expect((await send('DELETE', `${KEYS}/${made.id.toUpperCase()}`)).status).toBe(204);
    expect(await suite.store.apiKeys.find(hashApiKey(made.key))).toBeNull();
    const { data } = (await send('GET', KEYS)).body as { data: object[] };
    expect(data).toMatchObject([{ id: keyId }, { revokedAt: new Date(suite.nowMs - 1_000).toISOString() }]);
  });

  it("are not found by another fleet's", async () => {
    const made = (await send('POST', KEYS, { scopes: ['events:read'] })).body as { id: string; key: string };
    const other = suite.api.addKey(`${suite.fleetId}-other`);
    expect((await suite.api.request(`${KEYS}/${made.id}`, { method: 'DELETE', key: other })).status).toBe(404);
    expect((await suite.api.request(`${KEYS}/not-an-id`, { method: 'DELETE', key })).status).toBe(404);
    expect(((await suite.api.request(KEYS, { key: other })).body as { data: object[] }).data).toEqual([]);
    expect(await suite.store.apiKeys.find(hashApiKey(made.key))).not.toBeNull();
  });

  it.each<[object, string[]]>([
    [{}, ['scopes']],
    [{ scopes: [] }, ['scopes']],
    [{ scopes: ['events:read', 'events:read'] }, ['scopes']],
    [{ scopes: ['events:read', 'all'] }, ['scopes.1']],
    [{ scopes: ['events:read'], fleetId: 'other' }, ['fleetId']],
  ])('are refused for %j', async (body, fields) => {
    const answer = await send('POST', KEYS, body);
    const { details } = (answer.body as { error: { details: { field: string }[] } }).error;
    expect([answer.status, details.map(({ field }) => field)]).toEqual([400, fields]);
  });
});
