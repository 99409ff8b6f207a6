import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { formatCredential } from '@waypost/domain';
import { silentLogger } from '@waypost/streams';
import { securedOperations } from '../testing/documented-operations.js';
import { startTestApi, type TestAnswer } from '../testing/test-api.js';
import { useTestFleet } from '../testing/test-fleet.js';

const ADMIN = formatCredential('adminKey', Buffer.alloc(32, 1));
const WRONG = formatCredential('adminKey', Buffer.alloc(32, 2));
const FLEETS = '/public/v1/fleets';
const KEYS = '/public/v1/api-keys';

const logged: { event: string; fields: unknown }[] = [];
const suite = useTestFleet({
  adminKeyHashes: [createHash('sha256').update(ADMIN).digest()],
  logger: { ...silentLogger, info: (event: string, fields?: unknown) => void logged.push({ event, fields }) },
});

function asAdmin(method: string, path: string, json?: unknown, fleetId?: string): Promise<TestAnswer> {
  const headers = fleetId === undefined ? {} : { 'x-waypost-fleet': fleetId };
  return suite.api.request(path, { method, key: ADMIN, json, headers });
}

describe('an admin key (R-37)', () => {
  it('creates a fleet and a key for it, which works, and revokes the key', async () => {
    const fleetId = `${suite.fleetId}.new`;
    const made = await asAdmin('POST', FLEETS, { fleetId, name: 'New', routes: true });
    expect([made.status, made.headers.get('location')]).toEqual([201, `${FLEETS}/${fleetId}`]);
    expect(made.body).toMatchObject({ id: fleetId, name: 'New', payloadFormat: 'v1', routes: true, version: 1 });
    expect(suite.waitedFor).toHaveLength(1);
    expect((await asAdmin('GET', `${FLEETS}/${fleetId}`)).body).toEqual(made.body);

    const key = (await asAdmin('POST', KEYS, { scopes: ['fleet:read'] }, fleetId)).body as { id: string; key: string };
    const asFleet = () => suite.api.request('/public/v1/fleet', { key: key.key });
    expect((await asFleet()).body).toMatchObject({ id: fleetId });
    expect((await asAdmin('DELETE', `${KEYS}/${key.id}`, undefined, fleetId)).status).toBe(204);
    suite.nowMs += 3_000;
    expect((await asFleet()).status).toBe(401);
  });

  it('creates no fleet twice, and none with an unusable id', async () => {
    expect((await asAdmin('POST', FLEETS, { fleetId: suite.fleetId })).status).toBe(409);
    for (const fleetId of ['', '-x', 'a b', 'a/b', 'x'.repeat(129)]) {
      const { status, body } = await asAdmin('POST', FLEETS, { fleetId });
      expect([fleetId, status, body]).toMatchObject([fleetId, 400, { error: { details: [{ field: 'fleetId' }] } }]);
    }
  });

  it('creates one fleet however often a request with an idempotency key is sent, and no other with that key (R-43)', async () => {
    const fleetId = `${suite.fleetId}.once`;
    const headers = { 'idempotency-key': fleetId };
    const create = (json: object) => suite.api.request(FLEETS, { method: 'POST', key: ADMIN, json, headers });
    const first = await create({ fleetId });
    const again = await create({ fleetId });
    expect([first.status, again.status, again.body]).toEqual([201, 201, first.body]);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect((await create({ fleetId: `${fleetId}.other` })).status).toBe(422);
  });

  it('creates a portal session for a fleet, which opens and shows that it comes from an operator (R-42)', async () => {
    const body = { scopes: ['events:read', 'subscriptions:read'] };
    const made = await asAdmin('POST', '/public/v1/portal-sessions', body, suite.fleetId);
    expect([made.status, made.body]).toMatchObject([201, { scopes: body.scopes }]);
    expect(made.body).not.toHaveProperty('apiKeyId');
    const code = new URL((made.body as { link: string }).link).hash.replace('#portal=', '');
    const exchanged = await suite.api.request('/public/v1/portal-sessions/exchange', {
      method: 'POST',
      key: null,
      json: { code },
    });
    const { token } = exchanged.body as { token: string };
    const session = await suite.api.request('/public/v1/session', { key: token });
    expect(session.body).toMatchObject({ type: 'portal_session', fleetId: suite.fleetId, scopes: body.scopes });
    const listed = await asAdmin('GET', '/public/v1/portal-sessions', undefined, suite.fleetId);
    expect((listed.body as { data: object[] }).data).toHaveLength(1);
  });

  it('lists all fleets in pages, with totals on the first', async () => {
    for (const suffix of ['a', 'b', 'c']) {
      const fleetId = `${suite.fleetId}.${suffix}`;
      await suite.store.fleets.create({ fleetId, payloadFormat: 'v1', nowMs: suite.nowMs });
    }
    const { rows } = await suite.sql.query<{ fleet_id: string }>('SELECT fleet_id FROM fleets ORDER BY fleet_id');
    const listed: string[] = [];
    let query = '?limit=2';
    for (let pages = 0; ; pages++) {
      const { body } = await asAdmin('GET', FLEETS + query);
      const page = body as { data: { id: string }[]; nextPageState: string | null; totals?: object };
      listed.push(...page.data.map(({ id }) => id));
      if (pages === 0) expect(page.totals).toEqual({ fleets: rows.length, subscriptions: expect.any(Number) });
      else expect(page).not.toHaveProperty('totals');
      if (page.nextPageState === null) break;
      query = `?limit=2&pageState=${page.nextPageState}`;
    }
    expect(listed).toEqual(rows.map((row) => row.fleet_id));
  });

  it('acts for the fleet that the request names, and for none by itself', async () => {
    expect((await asAdmin('GET', '/public/v1/fleet', undefined, suite.fleetId)).body).toMatchObject({
      id: suite.fleetId,
    });
    for (const fleetId of [undefined, 'nobody']) {
      const { status, body } = await asAdmin('GET', '/public/v1/fleet', undefined, fleetId);
      expect([status, body]).toMatchObject([400, { error: { details: [{ header: 'X-Waypost-Fleet' }] } }]);
    }
  });

  it('learns from the session that it is an admin key', async () => {
    expect((await asAdmin('GET', '/public/v1/session')).body).toEqual({
      type: 'admin',
      scopes: [],
      historyRetentionMs: 15 * 86_400_000,
    });
    const { body } = await asAdmin('GET', '/public/v1/session', undefined, suite.fleetId);
    expect(body).toMatchObject({
      type: 'admin',
      fleetId: suite.fleetId,
      scopes: expect.arrayContaining(['keys:write']),
    });
  });

  it('is logged with each use, by the id of the request and without the key', async () => {
    logged.length = 0;
    const { headers } = await asAdmin('GET', '/public/v1/fleet', undefined, suite.fleetId);
    await asAdmin('GET', FLEETS);
    const shared = { adminKeyId: expect.stringMatching(/^admin-[0-9a-f]{8}$/), method: 'GET' };
    expect(logged).toEqual([
      {
        event: 'admin_request',
        fields: {
          ...shared,
          path: '/public/v1/fleet',
          fleetId: suite.fleetId,
          requestId: headers.get('x-request-id'),
        },
      },
      {
        event: 'admin_request',
        fields: { ...shared, path: FLEETS, fleetId: null, requestId: expect.any(String) },
      },
    ]);
    expect(JSON.stringify(logged)).not.toContain(ADMIN);
  });
});

describe('anybody else', () => {
  it('has no way to the fleets: an API key gets 403, and no header helps', async () => {
    const headers = { 'x-waypost-fleet': 'other' };
    for (const [method, path] of [
      ['GET', FLEETS],
      ['POST', FLEETS],
      ['GET', `${FLEETS}/${suite.fleetId}`],
    ] as const) {
      const json = method === 'POST' ? { fleetId: 'mine' } : undefined;
      expect((await suite.api.request(path, { method, key: suite.key, json, headers })).status).toBe(403);
      expect((await suite.api.request(path, { method, key: WRONG, json, headers })).status).toBe(401);
      expect((await suite.api.request(path, { method, key: null, json, headers })).status).toBe(401);
    }
    expect((await suite.api.request('/public/v1/fleet', { key: suite.key, headers })).body).toMatchObject({
      id: suite.fleetId,
    });
  });

  it('gets 401 with an admin key everywhere while none is configured', async () => {
    const api = await startTestApi({ store: suite.store });
    for (const path of [FLEETS, ...securedOperations.filter(({ method }) => method === 'GET').map((one) => one.path)]) {
      const headers = { 'x-waypost-fleet': suite.fleetId };
      expect([path, (await api.request(path, { key: ADMIN, headers })).status]).toEqual([path, 401]);
    }
    await api.close();
  });

  it('may guess admin keys as often as API keys: the right one is not tried beyond that', async () => {
    const addressRateLimit = { perSecond: 1, burst: 3 };
    const adminKeyHashes = [createHash('sha256').update(ADMIN).digest()];
    const api = await startTestApi({ store: suite.store, addressRateLimit, adminKeyHashes, now: () => suite.nowMs });
    const statuses: number[] = [];
    for (const key of [ADMIN, WRONG, WRONG, WRONG, WRONG, ADMIN]) {
      statuses.push((await api.request(FLEETS, { key })).status);
    }
    await api.close();
    expect(statuses).toEqual([200, 401, 401, 401, 429, 429]);
  });
});
