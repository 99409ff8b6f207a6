import { beforeEach, describe, expect, it } from '@jest/globals';
import { hashApiKey, RETENTION_MS } from '@waypost/domain';
import { PORTAL_SCOPES } from '@waypost/management-store';
import type { TestAnswer } from '../testing/test-api.js';
import { useTestFleet } from '../testing/test-fleet.js';

const SESSIONS = '/public/v1/portal-sessions';
const EXCHANGE = `${SESSIONS}/exchange`;
const KEYS = '/public/v1/api-keys';

const suite = useTestFleet();
let key: string;
let keyId: string;

beforeEach(async () => {
  ({ key, id: keyId } = await suite.storeKey());
});

interface Created {
  readonly id: string;
  readonly link: string;
  readonly expiresAt: string;
}

function send(method: string, path: string, json?: unknown, headers: Record<string, string> = {}): Promise<TestAnswer> {
  return suite.api.request(path, { method, key, json, headers });
}

async function create(body: object = {}): Promise<Created> {
  const answer = await send('POST', SESSIONS, { scopes: ['events:read', 'subscriptions:read'], ...body });
  expect(answer.status).toBe(201);
  return answer.body as Created;
}

function codeIn({ link }: Created): string {
  return new URL(link).hash.replace('#portal=', '');
}

function exchange(code: string): Promise<TestAnswer> {
  return suite.api.request(EXCHANGE, { method: 'POST', key: null, json: { code } });
}

async function open(body: object = {}): Promise<Created & { readonly token: string }> {
  const created = await create(body);
  const { token } = (await exchange(codeIn(created))).body as { token: string };
  return { ...created, token };
}

async function statusWith(token: string, path = '/public/v2/events', method = 'GET', json?: unknown): Promise<number> {
  return (await suite.api.request(path, { method, key: token, json })).status;
}

async function subscribe(): Promise<string> {
  const body = { url: `https://receiver.example/${String(Math.random())}`, eventType: 'position' };
  const answer = await send('POST', '/public/v1/webhook-subscriptions', body);
  return (answer.body as { data: [{ id: string }] }).data[0].id;
}

describe('POST /public/v1/portal-sessions (R-42)', () => {
  it('gives a link to the console with a code in the fragment, which reaches no log', async () => {
    const answer = await send('POST', SESSIONS, { scopes: ['events:read'], expiresIn: 600 });
    const created = answer.body as Created;
    expect([answer.status, answer.headers.get('location')]).toEqual([201, `${SESSIONS}/${created.id}`]);
    const { origin, pathname, search, hash } = new URL(created.link);
    expect([origin, search]).toEqual([suite.api.url, '']);
    expect(pathname).toMatch(/^\/portal\/[0-9a-f-]{36}\/[0-9a-f-]{36}$/);
    expect(pathname).toContain(created.id);
    expect(hash).toMatch(/^#portal=wpc_[\w-]{43}$/);
    expect(created.expiresAt).toBe(new Date(suite.nowMs + 600_000).toISOString());
  });

  it('says nothing of the fleet in the address, which has the portal of the fleet and then the session', async () => {
    const paths = [await create(), await create()].map(({ link }) => new URL(link).pathname);
    expect(new Set(paths.map((path) => path.split('/')[2])).size).toBe(1);
    expect(new Set(paths).size).toBe(2);
    expect(paths[0]).not.toContain(suite.fleetId);
  });

  it.each<[object, string[]]>([
    [{}, ['scopes']],
    [{ scopes: [] }, ['scopes']],
    [{ scopes: ['keys:read'] }, ['scopes.0']],
    [{ scopes: ['events:read', 'portal:write'] }, ['scopes.1']],
    [{ scopes: ['fleet:write'] }, ['scopes.0']],
    [{ scopes: ['events:read'], expiresIn: 3_601 }, ['expiresIn']],
    [{ scopes: ['events:read'], expiresIn: 0 }, ['expiresIn']],
    [{ scopes: ['events:read'], subscriptionIds: [] }, ['subscriptionIds']],
    [{ scopes: ['events:read'], subscriptionIds: ['x'] }, ['subscriptionIds.0']],
    [{ scopes: ['events:read'], returnUrl: 'javascript:alert(1)' }, ['returnUrl']],
    [{ scopes: ['events:read'], returnUrl: 'http://app.example.com' }, ['returnUrl']],
  ])('is refused for %j', async (body, fields) => {
    const answer = await send('POST', SESSIONS, body);
    const { details } = (answer.body as { error: { details: { field: string }[] } }).error;
    expect([answer.status, details.map(({ field }) => field)]).toEqual([400, fields]);
  });

  it('is refused for a subscription of another fleet, like one that does not exist', async () => {
    const other = `${suite.fleetId}-other`;
    await suite.store.fleets.create({ fleetId: other, payloadFormat: 'v1', nowMs: suite.nowMs });
    const theirs = await suite.api.request('/public/v1/webhook-subscriptions', {
      method: 'POST',
      key: suite.api.addKey(other),
      json: { url: 'https://receiver.example/hook', eventType: 'position' },
    });
    const [{ id }] = (theirs.body as { data: [{ id: string }] }).data;
    const own = await subscribe();
    const answer = await send('POST', SESSIONS, { scopes: ['events:read'], subscriptionIds: [own, id] });
    expect([answer.status, answer.body]).toMatchObject([
      400,
      { error: { code: 'invalid_body', details: [{ field: 'subscriptionIds.1' }] } },
    ]);
  });

  it.each(PORTAL_SCOPES.filter((scope) => !/^(events|subscriptions):/.test(scope)))(
    'is refused for some subscriptions with %s, which cannot be limited to them',
    async (scope) => {
      const subscriptionIds = [await subscribe()];
      const answer = await send('POST', SESSIONS, { scopes: ['events:read', scope], subscriptionIds });
      expect([answer.status, answer.body]).toMatchObject([400, { error: { details: [{ field: 'scopes.1' }] } }]);
      expect((await send('POST', SESSIONS, { scopes: [scope] })).status).toBe(201);
    },
  );

  it('gives no scope that the key lacks, nor an earlier link with such a scope', async () => {
    const headers = { 'idempotency-key': 'k' };
    const json = { scopes: ['events:read', 'paths:read'] };
    expect((await send('POST', SESSIONS, json, headers)).status).toBe(201);
    const lesser = suite.api.addKey(suite.fleetId, ['portal:write', 'events:read']);
    const answer = await suite.api.request(SESSIONS, { method: 'POST', key: lesser, json, headers });
    expect([answer.status, answer.body]).toMatchObject([403, { error: { code: 'scope_not_held' } }]);
  });

  it('gives the same link for the same idempotency key', async () => {
    const headers = { 'idempotency-key': 'k' };
    const twice = [1, 2].map(() => send('POST', SESSIONS, { scopes: ['events:read'] }, headers));
    const answers = (await Promise.all(twice)).filter(({ status }) => status === 201);
    const again = await send('POST', SESSIONS, { scopes: ['events:read'] }, headers);
    expect(new Set([...answers, again].map(({ body }) => (body as Created).link)).size).toBe(1);
  });
});

describe('the link of a portal session (R-42)', () => {
  it('opens once, of any number at the same time', async () => {
    const code = codeIn(await create());
    const answers = await Promise.all(Array.from({ length: 8 }, () => exchange(code)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 7 }, () => 404)]);
    expect((await exchange(code)).status).toBe(404);
  });

  it.each([
    ['2 minutes', {}, 2 * 60_000],
    ['as long as its session if that is shorter', { expiresIn: 30 }, 30_000],
  ])('opens for %s', async (_, body, lifetimeMs) => {
    const [early, late] = [await create(body), await create(body)];
    suite.nowMs += lifetimeMs - 1;
    expect((await exchange(codeIn(early))).status).toBe(200);
    suite.nowMs += 1;
    expect((await exchange(codeIn(late))).status).toBe(404);
  });

  it('does not open when its session or its key has been revoked', async () => {
    const [ofSession, ofKey] = [await create(), await create()];
    expect((await send('DELETE', `${SESSIONS}/${ofSession.id}`)).status).toBe(204);
    expect((await exchange(codeIn(ofSession))).status).toBe(404);
    await suite.store.apiKeys.revoke({ fleetId: suite.fleetId, id: keyId }, suite.nowMs);
    expect((await exchange(codeIn(ofKey))).status).toBe(404);
  });

  it.each(['x', 'wpc_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'])('does not open for the code %s', async (code) => {
    expect((await exchange(code)).status).toBe(404);
  });

  it('is no token, and the token is no code', async () => {
    const created = await create();
    expect(await statusWith(codeIn(created))).toBe(401);
    const { token } = (await exchange(codeIn(created))).body as { token: string };
    expect((await exchange(token)).status).toBe(404);
  });

  it('is kept, like the token, only as a hash', async () => {
    const created = await create();
    const code = codeIn(created);
    const { token } = (await exchange(code)).body as { token: string };
    const { rows } = await suite.sql.query<{ text: string; token_hash: Buffer }>(
      'SELECT s::text AS text, token_hash FROM portal_sessions s WHERE id = $1',
      [created.id],
    );
    expect(rows[0]?.token_hash).toEqual(hashApiKey(token));
    for (const secret of [code, token, code.slice(4), token.slice(4)]) expect(rows[0]?.text).not.toContain(secret);
  });
});

describe('a portal session (R-42)', () => {
  it('does what its scopes say in its fleet, and no more', async () => {
    const { token } = await open();
    expect(await statusWith(token)).toBe(200);
    expect(await statusWith(token, '/public/v1/webhook-subscriptions')).toBe(200);
    expect(await statusWith(token, '/public/v1/geofences')).toBe(403);
    const test = `/public/v1/webhook-subscriptions/${await subscribe()}/test`;
    expect(await statusWith(token, test, 'POST')).toBe(403);
  });

  it.each([
    ['expiresIn', { expiresIn: 30 }],
    ['its earlier name', { expiresInSeconds: 30 }],
    ['expiresIn rather than its earlier name', { expiresIn: 30, expiresInSeconds: 60 }],
  ])('ends at its time, by %s', async (_, body) => {
    const { token } = await open(body);
    suite.nowMs += 29_999;
    expect(await statusWith(token)).toBe(200);
    suite.nowMs += 1;
    expect(await statusWith(token)).toBe(401);
  });

  it('ends within a second when it is revoked; revoking again changes nothing', async () => {
    const { id, token } = await open();
    expect(await statusWith(token)).toBe(200);
    expect((await send('DELETE', `${SESSIONS}/${id}`)).status).toBe(204);
    suite.nowMs += 1_000;
    expect(await statusWith(token)).toBe(401);
    expect((await send('DELETE', `${SESSIONS}/${id}`)).status).toBe(204);
    const { data } = (await send('GET', SESSIONS)).body as { data: object[] };
    expect(data).toMatchObject([{ id, revokedAt: new Date(suite.nowMs - 1_000).toISOString() }]);
  });

  it('is not made with a key that was revoked, and perhaps forgotten, a moment ago', async () => {
    await create();
    await suite.store.apiKeys.revoke({ fleetId: suite.fleetId, id: keyId }, suite.nowMs);
    const body = { scopes: ['events:read'] };
    const refused = { status: 401, body: { error: { code: 'unauthorized', message: 'The API key is unknown.' } } };
    expect(await send('POST', SESSIONS, body)).toMatchObject(refused);
    await suite.sql.query('DELETE FROM portal_sessions');
    await suite.sql.query('DELETE FROM api_keys WHERE id = $1', [keyId]);
    expect(await send('POST', SESSIONS, body)).toMatchObject(refused);
  });

  it('ends with the API key that made it', async () => {
    const { token } = await open();
    expect(await statusWith(token)).toBe(200);
    await suite.send('DELETE', `${KEYS}/${keyId}`);
    suite.nowMs += 1_000;
    expect(await statusWith(token)).toBe(401);
  });

  it('makes neither keys nor sessions, whatever it was given', async () => {
    const { token } = await open({ scopes: PORTAL_SCOPES });
    expect(await statusWith(token, SESSIONS, 'POST', { scopes: ['events:read'] })).toBe(403);
    expect(await statusWith(token, KEYS, 'POST', { scopes: ['events:read'] })).toBe(403);
    // Also if a row said otherwise.
    await suite.sql.query("UPDATE portal_sessions SET scopes = scopes || '{keys:write,portal:write,fleet:write}'");
    suite.nowMs += 1_000;
    expect(await statusWith(token, SESSIONS, 'POST', { scopes: ['events:read'] })).toBe(403);
    expect(await statusWith(token, KEYS, 'POST', { scopes: ['events:read'] })).toBe(403);
    expect(await statusWith(token, '/public/v1/fleet', 'PATCH', { name: 'Mine' })).toBe(403);
  });

  it('shares no idempotency key with others of its fleet: their answers are not for it', async () => {
    const id = await subscribe();
    const path = `/public/v1/webhook-subscriptions/${id}/rotate-secret`;
    const headers = { 'idempotency-key': 'k' };
    const rotated = await send('POST', path, undefined, headers);
    const { token } = await open({ scopes: ['subscriptions:write'], subscriptionIds: [id] });
    const answer = await suite.api.request(path, { method: 'POST', key: token, headers });
    expect([answer.status, answer.headers.get('idempotent-replayed')]).toEqual([200, null]);
    expect((answer.body as { secret: string }).secret).not.toBe((rotated.body as { secret: string }).secret);
  });

  it('is listed for a day after its end', async () => {
    const { id } = await open();
    suite.nowMs += 23 * 3_600_000;
    const later = await create();
    const { data } = (await send('GET', SESSIONS)).body as { data: { id: string }[] };
    expect(data.map((one) => one.id)).toEqual([id, later.id]);
  });

  it('is forgotten a day after its end', async () => {
    const { id } = await open();
    suite.nowMs += 25 * 3_600_000;
    const later = await create();
    const { data } = (await send('GET', SESSIONS)).body as { data: { id: string }[] };
    expect(data.map((one) => one.id)).toEqual([later.id]);
    expect((await send('DELETE', `${SESSIONS}/${id}`)).status).toBe(404);
  });
});

describe('the list of portal sessions', () => {
  it('is in pages, oldest first, without codes and tokens', async () => {
    const subscriptionIds = [await subscribe()];
    const made: Created[] = [];
    for (const body of [{}, { subscriptionIds }, { returnUrl: 'https://app.example.com/' }]) {
      suite.nowMs += 1;
      made.push(await open(body));
    }
    const first = (await send('GET', `${SESSIONS}?limit=2`)).body as { data: object[]; nextPageState: string };
    const rest = await send('GET', `${SESSIONS}?limit=2&pageState=${first.nextPageState}`);
    const all = [...first.data, ...(rest.body as { data: object[] }).data];
    expect(all).toMatchObject([
      { id: made[0]?.id, apiKeyId: keyId, openedAt: expect.any(String) },
      { id: made[1]?.id, subscriptionIds },
      { id: made[2]?.id, returnUrl: 'https://app.example.com/' },
    ]);
    expect(JSON.stringify(all)).not.toMatch(/wp[cs]_|hash/i);
  });
});

describe('GET /public/v1/session', () => {
  it('tells a portal session what it is', async () => {
    const subscriptionIds = [await subscribe()];
    const returnUrl = 'https://app.example.com/';
    const { token, expiresAt } = await open({ scopes: ['events:read'], subscriptionIds, returnUrl });
    await send('PATCH', '/public/v1/fleet/portal', { brandColor: '#0f766e', colorScheme: 'dark' });
    expect((await suite.api.request('/public/v1/session', { key: token })).body).toEqual({
      type: 'portal_session',
      fleetId: suite.fleetId,
      scopes: ['events:read'],
      subscriptionIds,
      expiresAt,
      returnUrl,
      branding: { brandColor: '#0f766e', colorScheme: 'dark' },
      historyRetentionMs: RETENTION_MS,
    });
  });

  it('tells any API key what it is, whatever its scopes', async () => {
    const lesser = suite.api.addKey(suite.fleetId, []);
    expect((await suite.api.request('/public/v1/session', { key: lesser })).body).toEqual({
      type: 'api_key',
      fleetId: suite.fleetId,
      scopes: [],
      branding: { colorScheme: 'auto' },
      historyRetentionMs: RETENTION_MS,
    });
  });
});
