import { describe, expect, it } from '@jest/globals';
import { hashApiKey } from '@waypost/domain';
import { API_KEY_SCOPES } from '@waypost/management-store';
import { useTestFleet } from '../testing/test-fleet.js';

const FLEET = '/public/v1/fleet';
const KEYS = '/public/v1/api-keys';

const suite = useTestFleet();
const { send } = suite;

async function published() {
  const rows = await suite.sql.query<{ value: object }>(
    "SELECT value FROM outbox WHERE kind = 'fleet-settings' AND key = $1 ORDER BY id",
    [suite.fleetId],
  );
  return rows.rows.map(({ value }) => value);
}

describe('GET /public/v1/fleet', () => {
  it('shows the fleet of the key', async () => {
    const answer = await send('GET', FLEET);
    const at = '2026-03-20T12:00:00.000Z';
    expect(answer.body).toEqual({
      id: suite.fleetId,
      payloadFormat: 'v1',
      routes: false,
      version: 1,
      createdAt: at,
      updatedAt: at,
    });
    expect(answer.headers.get('etag')).toBe('"1"');
  });

  it('is 304 for who has this version, and 200 for who has another', async () => {
    // Without this, fetch asks for a fresh answer by itself.
    const conditional = { 'cache-control': 'max-age=0' };
    const same = await send('GET', FLEET, undefined, { ...conditional, 'if-none-match': '"1"' });
    expect([same.status, same.body, same.headers.get('etag')]).toEqual([304, '', '"1"']);
    expect((await send('GET', FLEET, undefined, { ...conditional, 'if-none-match': '"2"' })).status).toBe(200);
  });
});

describe('PATCH /public/v1/fleet', () => {
  it('changes the given fields and waits until the change is published', async () => {
    suite.nowMs += 1_000;
    const answer = await send('PATCH', FLEET, { payloadFormat: 'legacy-v1', name: 'Tour 7' });
    expect(answer.body).toMatchObject({ name: 'Tour 7', payloadFormat: 'legacy-v1', version: 2 });
    expect(answer.headers.get('etag')).toBe('"2"');
    expect((await published()).at(-1)).toEqual(await suite.store.fleets.find(suite.fleetId));
    expect(await published()).toHaveLength(2);
    expect(suite.waitedFor).toEqual([[expect.any(String)]]);

    const nameless = await send('PATCH', FLEET, { name: null });
    expect(nameless.body).not.toHaveProperty('name');
    expect(nameless.body).toMatchObject({ payloadFormat: 'legacy-v1', version: 3 });
  });

  it('makes no new version when nothing changes', async () => {
    expect((await send('PATCH', FLEET, { payloadFormat: 'v1' })).headers.get('etag')).toBe('"1"');
    expect(await published()).toHaveLength(1);
  });

  it('decides the format of later subscriptions only (R-14)', async () => {
    const path = '/public/v1/webhook-subscriptions';
    const make = async (eventType: string) =>
      ((await send('POST', path, { eventType, url: 'https://a.example' })).body as { data: object[] }).data[0];
    expect(await make('position')).toMatchObject({ payloadFormat: 'v1' });
    await send('PATCH', FLEET, { payloadFormat: 'legacy-v1' });
    expect(await make('ignition_on')).toMatchObject({ payloadFormat: 'legacy-v1' });
    const { data } = (await send('GET', path)).body as { data: { payloadFormat: string }[] };
    expect(data.map(({ payloadFormat }) => payloadFormat).sort()).toEqual(['legacy-v1', 'v1']);
  });

  it('switches routes and stops on and off (R-9), and publishes each', async () => {
    const on = await send('PATCH', FLEET, { routes: true }, { 'if-match': '"1"' });
    expect([on.status, on.headers.get('etag')]).toEqual([200, '"2"']);
    expect(on.body).toMatchObject({ routes: true, version: 2 });
    expect((await send('PATCH', FLEET, { routes: true })).headers.get('etag')).toBe('"2"');
    expect((await send('PATCH', FLEET, { routes: false })).body).toMatchObject({ routes: false, version: 3 });
    expect(await published()).toMatchObject([{ routes: false }, { routes: true }, { routes: false }]);
    expect(suite.waitedFor).toHaveLength(2);
  });

  it('is not needed for routes: a subscription to them switches them on and is answered once both are published', async () => {
    const path = '/public/v1/webhook-subscriptions';
    const json = { eventTypes: ['position', 'stop_started'], url: 'https://a.example' };
    const made = await send('POST', path, json);
    expect(made.status).toBe(201);
    // The settings, and two subscriptions behind them.
    expect(suite.waitedFor).toEqual([[expect.any(String), expect.any(String), expect.any(String)]]);
    const ids = (suite.waitedFor[0] ?? []).map(Number);
    expect(ids).toEqual(ids.toSorted((a, b) => a - b));
    const { rows } = await suite.sql.query<{ kind: string }>('SELECT kind FROM outbox WHERE id = ANY($1) ORDER BY id', [
      ids,
    ]);
    const kinds = ['fleet-settings', 'webhook-subscription', 'webhook-subscription'];
    expect(rows.map(({ kind }) => kind)).toEqual(kinds);
    const fleet = await send('GET', FLEET);
    expect([fleet.headers.get('etag'), fleet.body]).toEqual(['"2"', expect.objectContaining({ routes: true })]);

    // A caller with the earlier ETag learns that the fleet has changed.
    expect((await send('PATCH', FLEET, { routes: false }, { 'if-match': '"1"' })).status).toBe(412);
    await send('PATCH', FLEET, { routes: false }, { 'if-match': '"2"' });
    const { data } = (await send('GET', path)).body as { data: { eventType: string; status: string }[] };
    expect(data.map(({ eventType, status }) => `${eventType} ${status}`).sort()).toEqual([
      'position active',
      'stop_started active',
    ]);
    await send('POST', path, { eventType: 'route_started', url: 'https://a.example' });
    expect((await send('GET', FLEET)).body).toMatchObject({ routes: true, version: 4 });
  });

  it.each([['yes'], [null], [1]])('names the field when routes is %j', async (routes) => {
    const answer = await send('PATCH', FLEET, { routes });
    const details = [{ field: 'routes', message: 'must be true or false' }];
    expect([answer.status, answer.body]).toEqual([400, { error: expect.objectContaining({ details }) }]);
  });

  it('is refused when another request has changed it since', async () => {
    await send('PATCH', FLEET, { name: 'Theirs' }, { 'if-match': '"1"' });
    const answer = await send('PATCH', FLEET, { name: 'Ours' }, { 'if-match': '"1"' });
    expect([answer.status, answer.headers.get('etag')]).toEqual([412, '"2"']);
    expect(await suite.store.fleets.find(suite.fleetId)).toMatchObject({ name: 'Theirs' });
  });

  it.each([[{}], [{ payloadFormat: 'v3' }], [{ name: '' }], [{ id: 'other' }]])('refuses %j', async (body) => {
    expect((await send('PATCH', FLEET, body)).status).toBe(400);
  });

  it.each([
    ['GET', 'fleet:write'],
    ['PATCH', 'fleet:read'],
  ])('needs the scope: %s', async (method, scope) => {
    const json = method === 'PATCH' ? { name: 'x' } : undefined;
    expect(
      (await suite.api.request(FLEET, { method, json, key: suite.api.addKey(suite.fleetId, [scope]) })).status,
    ).toBe(403);
  });
});

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
    const lesser = suite.api.addKey(suite.fleetId, ['keys:write', 'events:read']);
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
      { id: ids[0], name: 'a' },
      { id: ids[1], name: 'b', revokedAt: new Date(suite.nowMs).toISOString() },
      { id: ids[2], name: 'c' },
    ]);
    expect(first.data[0]).not.toHaveProperty('revokedAt');
  });

  it('are refused once revoked; revoking again changes nothing', async () => {
    const made = (await send('POST', KEYS, { scopes: ['events:read'] })).body as { id: string; key: string };
    expect((await send('DELETE', `${KEYS}/${made.id}`)).status).toBe(204);
    suite.nowMs += 1_000;
    expect((await send('DELETE', `${KEYS}/${made.id.toUpperCase()}`)).status).toBe(204);
    expect(await suite.store.apiKeys.find(hashApiKey(made.key))).toBeNull();
    const { data } = (await send('GET', KEYS)).body as { data: object[] };
    expect(data).toMatchObject([{ revokedAt: new Date(suite.nowMs - 1_000).toISOString() }]);
  });

  it("are not found by another fleet's", async () => {
    const made = (await send('POST', KEYS, { scopes: ['events:read'] })).body as { id: string; key: string };
    const other = suite.api.addKey(`${suite.fleetId}-other`);
    expect((await suite.api.request(`${KEYS}/${made.id}`, { method: 'DELETE', key: other })).status).toBe(404);
    expect((await suite.api.request(`${KEYS}/not-an-id`, { method: 'DELETE', key: suite.key })).status).toBe(404);
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
