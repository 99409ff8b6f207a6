import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { until } from '../../../../test/support/until.js';
import { startTestApi } from '../testing/test-api.js';
import { useTestFleet } from '../testing/test-fleet.js';

const SUBSCRIPTIONS = '/public/v1/webhook-subscriptions';
const KEYS = '/public/v1/api-keys';
const BODY = { eventType: 'position', url: 'https://receiver.example/hook' };
const CIRCLE = { type: 'circle', center: { latitude: 1, longitude: 2 }, radiusInMeters: 3 };

let urlCheck: Promise<void> = Promise.resolve();
let urlChecks = 0;
const sealingKeys = [randomBytes(32)];

const suite = useTestFleet({
  sealingKeys,
  checkUrl: async () => {
    urlChecks += 1;
    await urlCheck;
    return { type: 'accepted' } as const;
  },
});
let key: string;
beforeEach(async () => {
  [urlCheck, urlChecks] = [Promise.resolve(), 0];
  ({ key } = await suite.storeKey());
});

function post(path: string, json: unknown, idempotencyKey: string, more: Record<string, string> = {}) {
  const headers = { 'idempotency-key': idempotencyKey, ...more };
  return suite.api.request(path, { method: 'POST', key, json, headers });
}
async function rowsOf(table: string): Promise<number> {
  const rows = await suite.sql.query<{ n: string }>(`SELECT count(*) AS n FROM ${table} WHERE fleet_id = $1`, [
    suite.fleetId,
  ]);
  return Number(rows.rows[0]?.n);
}
async function subscriptionId(): Promise<string> {
  const { body } = await post(SUBSCRIPTIONS, BODY, 'the subscription');
  return (body as { data: { id: string }[] }).data[0]?.id ?? '';
}

describe('a request with an Idempotency-Key', () => {
  it.each<[string, (id: string) => string, object | undefined, string]>([
    ['a subscription', () => SUBSCRIPTIONS, BODY, 'webhook_subscriptions'],
    ['a geofence', () => '/public/v1/geofences', { name: 'Depot', shape: CIRCLE }, 'geofences'],
    ['an API key', () => KEYS, { scopes: ['events:read'] }, 'api_keys'],
    [
      'a replay',
      (id) => `${SUBSCRIPTIONS}/${id}/replays`,
      { startDate: '2026-03-19T00:00:00Z', endDate: '2026-03-20T00:00:00Z' },
      'webhook_replays',
    ],
  ])('makes %s once, and is answered alike, however often it is sent', async (_, pathOf, body, table) => {
    const path = pathOf(table === 'webhook_replays' ? await subscriptionId() : '');
    const before = await rowsOf(table);
    const first = await post(path, body, 'k-1');
    const again = await post(path, body, 'k-1');
    expect([201, 202]).toContain(first.status);
    expect([again.status, again.body]).toEqual([first.status, first.body]);
    expect(again.headers.get('etag')).toBe(first.headers.get('etag'));
    expect([first, again].map(({ headers }) => headers.get('idempotent-replayed'))).toEqual([null, 'true']);
    expect(await rowsOf(table)).toBe(before + 1);
    const other = await post(path, body, 'k-2');
    expect(other.body).not.toEqual(first.body);
  });

  it.each(['rotate-secret', 'test'])('does /%s once', async (action) => {
    const path = `${SUBSCRIPTIONS}/${await subscriptionId()}/${action}`;
    const first = await post(path, undefined, 'k-1', action === 'test' ? {} : { 'if-match': '"1"' });
    // The ETag is out of date by now, but the kept answer is repeated.
    const again = await post(path, undefined, 'k-1', action === 'test' ? {} : { 'if-match': '"1"' });
    expect([again.status, again.body]).toEqual([first.status, first.body]);
    expect(first.status).toBeLessThan(300);
    const [kept] = (await suite.sql.query('SELECT * FROM webhook_subscriptions WHERE fleet_id = $1', [suite.fleetId]))
      .rows as { version: number }[];
    expect(kept?.version).toBe(action === 'test' ? 1 : 2);
    const tests = await suite.sql.query(
      "SELECT FROM outbox WHERE kind = 'webhook-delivery' AND value->>'fleetId' = $1",
      [suite.fleetId],
    );
    expect(tests.rowCount).toBe(action === 'test' ? 1 : 0);
  });

  it('waits until the change is published, the second time too', async () => {
    await post(SUBSCRIPTIONS, BODY, 'k');
    await post(SUBSCRIPTIONS, BODY, 'k');
    expect(suite.waitedFor).toHaveLength(2);
    expect(suite.waitedFor[1]).toEqual(suite.waitedFor[0]);
  });

  it('is refused when the key was used for something else', async () => {
    const first = await post(SUBSCRIPTIONS, BODY, 'k');
    const answer = await post(SUBSCRIPTIONS, { ...BODY, eventType: 'ignition_on' }, 'k');
    expect([answer.status, answer.body]).toMatchObject([422, { error: { code: 'idempotency_key_reused' } }]);
    expect(await rowsOf('webhook_subscriptions')).toBe(1);
    const made = await post(SUBSCRIPTIONS, { ...BODY, eventType: 'ignition_on' }, 'k-2');
    const ids = [first, made].map(({ body }) => (body as { data: { id: string }[] }).data[0]?.id ?? '');
    const rotations = [];
    for (const id of ids) rotations.push(await post(`${SUBSCRIPTIONS}/${id}/rotate-secret`, undefined, 'k'));
    expect(rotations.map(({ status }) => status)).toEqual([200, 422]);
  });

  it('is refused when the key was used for the subscriptions at the same URL, and is now for one of them', async () => {
    const first = await post(SUBSCRIPTIONS, { eventTypes: ['position', 'ignition_on'], url: BODY.url }, 'k-1');
    const [{ id }] = (first.body as { data: [{ id: string }] }).data;
    const rotate = (scope: string) => post(`${SUBSCRIPTIONS}/${id}/rotate-secret?scope=${scope}`, undefined, 'k-2');
    expect((await rotate('subscription')).status).toBe(200);
    const other = await rotate('url');
    expect([other.status, other.body]).toMatchObject([422, { error: { code: 'idempotency_key_reused' } }]);
    expect((await rotate('subscription')).headers.get('idempotent-replayed')).toBe('true');
  });

  it('takes the same fields in another order for the same request', async () => {
    const first = await post(SUBSCRIPTIONS, { eventType: 'position', url: BODY.url }, 'k');
    expect((await post(SUBSCRIPTIONS, { url: BODY.url, eventType: 'position' }, 'k')).body).toEqual(first.body);
  });

  it('keeps no refusal: the same key may be tried again', async () => {
    expect((await post(KEYS, { scopes: ['unheard:of'] }, 'k')).status).toBe(400);
    const taken = await post(SUBSCRIPTIONS, BODY, 'k-1');
    expect((await post(SUBSCRIPTIONS, BODY, 'k-2')).status).toBe(409);
    const [{ id }] = (taken.body as { data: [{ id: string }] }).data;
    await suite.api.request(`${SUBSCRIPTIONS}/${id}`, { method: 'DELETE', key });
    expect((await post(SUBSCRIPTIONS, BODY, 'k-2')).status).toBe(201);
    expect(await rowsOf('idempotency_keys')).toBe(2);
  });

  it('is forgotten after 24 hours', async () => {
    const path = '/public/v1/geofences';
    const body = { name: 'Depot', shape: CIRCLE };
    const first = await post(path, body, 'k');
    suite.nowMs += 24 * 3_600_000 - 1;
    expect((await post(path, body, 'k')).body).toEqual(first.body);
    suite.nowMs += 1;
    const later = await post(path, body, 'k');
    expect([later.status, later.headers.get('idempotent-replayed')]).toEqual([201, null]);
    expect(later.body).not.toEqual(first.body);
    expect(await rowsOf('idempotency_keys')).toBe(1);
    suite.nowMs += 24 * 3_600_000;
    await post(path, body, 'another');
    expect(await rowsOf('idempotency_keys')).toBe(1);
  });

  it('belongs to its fleet and its route', async () => {
    await post(SUBSCRIPTIONS, BODY, 'k');
    expect((await post(KEYS, { scopes: ['events:read'] }, 'k')).status).toBe(201);
    const other = `${suite.fleetId}-b`;
    await suite.store.fleets.create({ fleetId: other, payloadFormat: 'v1', nowMs: suite.nowMs });
    const headers = { 'idempotency-key': 'k' };
    const answer = await suite.api.request(SUBSCRIPTIONS, {
      method: 'POST',
      key: suite.api.addKey(other),
      json: BODY,
      headers,
    });
    expect([answer.status, answer.headers.get('idempotent-replayed')]).toEqual([201, null]);
  });

  it('creates no key with scopes that the caller does not have', async () => {
    const made = await post(KEYS, { scopes: ['events:read'] }, 'k');
    expect(made.status).toBe(201);
    const headers = { 'idempotency-key': 'k' };
    const lesser = suite.api.addKey(suite.fleetId, ['keys:write']);
    const answer = await suite.api.request(KEYS, {
      method: 'POST',
      key: lesser,
      json: { scopes: ['events:read'] },
      headers,
    });
    expect([answer.status, answer.body]).toMatchObject([403, { error: { code: 'scope_not_held' } }]);
  });

  it('shows no secret of the answer in the table', async () => {
    const { body } = await post(
      SUBSCRIPTIONS,
      { ...BODY, auth: { type: 'bearer', tokenUrl: BODY.url, clientId: 'c', clientSecret: 'open-sesame' } },
      'k',
    );
    const { rows } = await suite.sql.query<{ text: string }>(
      'SELECT t::text AS text FROM idempotency_keys t WHERE fleet_id = $1',
      [suite.fleetId],
    );
    const [{ secret }] = (body as { data: [{ secret: string }] }).data;
    expect(rows).toHaveLength(1);
    for (const hidden of [secret, secret.slice('whsec_'.length), 'open-sesame'])
      expect(rows[0]?.text).not.toContain(hidden);
  });

  it('reports a response that was sealed under another key', async () => {
    await post(SUBSCRIPTIONS, BODY, 'k');
    const other = await startTestApi({ store: suite.store, now: () => suite.nowMs, sealingKeys: [randomBytes(32)] });
    const headers = { 'idempotency-key': 'k' };
    const answer = await other.request(SUBSCRIPTIONS, {
      method: 'POST',
      key: other.addKey(suite.fleetId),
      json: BODY,
      headers,
    });
    await other.close();
    expect([answer.status, answer.body]).toMatchObject([409, { error: { code: 'idempotency_answer_lost' } }]);
  });

  it.each(['', 'x'.repeat(256)])('is refused when the key cannot be one: %j', async (bad) => {
    const answer = await post(SUBSCRIPTIONS, BODY, bad);
    expect([answer.status, answer.body]).toMatchObject([
      400,
      { error: { code: 'invalid_header', details: [{ header: 'Idempotency-Key' }] } },
    ]);
  });
});

describe('requests with one key at the same time', () => {
  it('make one change: each gets its response, or hears that it is in progress', async () => {
    // All of them pass the lookup before the first one begins its change.
    let pass = (): void => undefined;
    urlCheck = new Promise((resolve) => (pass = resolve));
    const sent = Array.from({ length: 12 }, () => post(SUBSCRIPTIONS, BODY, 'k'));
    await until(() => urlChecks === 12);
    pass();
    const answers = await Promise.all(sent);
    const made = answers.filter(({ status }) => status === 201);
    expect(new Set(made.map(({ body }) => JSON.stringify(body))).size).toBe(1);
    expect(made.filter(({ headers }) => headers.get('idempotent-replayed') === null)).toHaveLength(1);
    for (const { status, body } of answers.filter((answer) => answer.status !== 201)) {
      expect([status, body]).toMatchObject([409, { error: { code: 'idempotency_in_progress' } }]);
    }
    expect(await rowsOf('webhook_subscriptions')).toBe(1);
    expect((await post(SUBSCRIPTIONS, BODY, 'k')).body).toEqual(made[0]?.body);
  });

  it('are asked to retry while another process works on the first', async () => {
    await suite.sql.query('BEGIN');
    const name = ['idempotency', suite.fleetId, `POST ${SUBSCRIPTIONS}`, 'k'].join('\u001f');
    await suite.sql.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [name]);
    const answer = await post(SUBSCRIPTIONS, BODY, 'k');
    await suite.sql.query('ROLLBACK');
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([409, '1']);
    expect((await post(SUBSCRIPTIONS, BODY, 'k')).status).toBe(201);
  });
});
