import { describe, expect, it } from '@jest/globals';
import { formatCredential, hashApiKey } from '@waypost/domain';
import { clientOf } from '../limits/address-limiter.js';
import { startTestApiPerTest } from '../testing/test-api.js';

const build = startTestApiPerTest();

const EVENTS = '/public/v2/events';
const SUBSCRIPTIONS = '/public/v1/webhook-subscriptions';
const UNKNOWN_KEY = `wp_${'A'.repeat(43)}`;

describe('requests without a live key', () => {
  const few = { addressRateLimit: { perSecond: 1, burst: 3 } };

  it('are counted by address for every path', async () => {
    const { request } = await build({ ...few, now: () => 1_000_000 });
    const answers = [
      await request(EVENTS, { key: null }),
      await request('/public/openapi.json', { key: null }),
      await request(EVENTS, { key: UNKNOWN_KEY }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([401, 200, 401]);
    for (const key of [null, UNKNOWN_KEY, 'nonsense']) {
      const refused = await request(EVENTS, { key });
      expect(refused.status).toBe(429);
      expect(refused.headers.get('retry-after')).toBe('1');
      expect(refused.body).toMatchObject({ error: { code: 'rate_limited' } });
    }
  });

  const AUTHORIZATIONS = [
    ['no key', null],
    ['another scheme', 'Basic d3A6eA=='],
    ['what cannot be a key', 'Bearer nonsense'],
    ['an unknown key', `Bearer ${UNKNOWN_KEY}`],
  ] as const;
  const REQUESTS = [
    [200, '/public/openapi.json', {}],
    [404, '/nowhere', {}],
    [405, EVENTS, { method: 'DELETE' }],
    [414, `${EVENTS}?${'x'.repeat(9_000)}`, {}],
    [415, SUBSCRIPTIONS, { method: 'POST', raw: '<a/>', headers: { 'content-type': 'text/xml' } }],
    [413, SUBSCRIPTIONS, { method: 'POST', json: { url: 'x'.repeat(110_000) } }],
    [401, EVENTS, {}],
  ] as const;
  const everyWay = AUTHORIZATIONS.flatMap(([what, authorization]) =>
    REQUESTS.map(([status, path, sent]) => [what, status, path.slice(0, 40), path, authorization, sent] as const),
  );

  it.each(everyWay)('count with %s, answered %i by %s', async (_what, status, _path, path, authorization, sent) => {
    const { request } = await build({ ...few, now: () => 1_000_000 });
    const headers = authorization === null ? {} : { authorization };
    const more = 'headers' in sent ? sent.headers : {};
    const statuses: number[] = [];
    for (let i = 0; i < 4; i++) {
      statuses.push((await request(path, { ...sent, key: null, headers: { ...headers, ...more } })).status);
    }
    expect(statuses).toEqual([status, status, status, 429]);
  });

  it.each(
    REQUESTS.filter(([status]) => status !== 401).map(
      ([status, path, sent]) => [status, path.slice(0, 40), path, sent] as const,
    ),
  )('are not those that show one, though answered %i by %s', async (status, _path, path, sent) => {
    const { request } = await build({ ...few, now: () => 1_000_000 });
    const statuses = new Set<number>();
    for (let i = 0; i < 10; i++) statuses.add((await request(path, sent)).status);
    expect([...statuses]).toEqual([status]);
    // Nothing of it was held against the address.
    expect((await request(EVENTS, { key: null })).status).toBe(401);
  });

  it('are not those of an operator', async () => {
    const key = formatCredential('adminKey', Buffer.alloc(32, 7));
    const { request } = await build({ ...few, now: () => 1_000_000, adminKeyHashes: [Buffer.from(hashApiKey(key))] });
    for (let i = 0; i < 10; i++) expect((await request('/public/openapi.json', { key })).status).toBe(200);
    expect((await request(EVENTS, { key: null })).status).toBe(401);
  });

  it('let callers in whose key was accepted before, however long ago', async () => {
    let nowMs = 1_000_000;
    const { request } = await build({ ...few, now: () => nowMs });
    expect((await request(EVENTS)).status).toBe(200);
    nowMs += 3_600_000;
    for (let i = 0; i < 10; i++) await request(EVENTS, { key: UNKNOWN_KEY });
    expect((await request(EVENTS, { key: null })).status).toBe(429);
    expect((await request(EVENTS)).status).toBe(200);
  });

  it('cost no lookup once the address has had its share, nor do keys that were never let in', async () => {
    let nowMs = 1_000_000;
    let lookUps = 0;
    const findApiKey = () => {
      lookUps++;
      return Promise.resolve(null);
    };
    const { request, addKey } = await build({ ...few, now: () => nowMs, findApiKey });
    const guess = (n: number) => request(EVENTS, { key: `wp_${String(n).padStart(43, 'A')}` });
    const answers = await Promise.all(Array.from({ length: 30 }, (_, n) => guess(n)));
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(3);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(27);
    expect(lookUps).toBe(3);

    const live = addKey('other');
    expect((await request(EVENTS, { key: live })).status).toBe(429);
    nowMs += 1_000;
    expect((await request(EVENTS, { key: live })).status).toBe(200);
    // A live key leaves the address its share.
    expect((await request(EVENTS, { key: null })).status).toBe(401);
  });

  it('do not include concurrent first requests with one live key', async () => {
    const { request, addKey } = await build({ ...few, now: () => 1_000_000 });
    const key = addKey('other');
    const answers = await Promise.all(Array.from({ length: 30 }, () => request(EVENTS, { key })));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  });

  it('are treated as valid while keys cannot be looked up, so public routes still answer', async () => {
    const away = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });
    const { request } = await build({ ...few, now: () => 1_000_000, findApiKey: () => Promise.reject(away) });
    for (let i = 0; i < 5; i++) {
      expect((await request(EVENTS, { key: UNKNOWN_KEY })).status).toBe(503);
      expect((await request('/public/openapi.json', { key: UNKNOWN_KEY })).status).toBe(200);
    }
  });

  it('are let in again when time has passed', async () => {
    let nowMs = 1_000_000;
    const { request } = await build({ ...few, now: () => nowMs });
    for (let i = 0; i < 4; i++) await request(EVENTS, { key: null });
    nowMs += 1_000;
    expect((await request(EVENTS, { key: null })).status).toBe(401);
    expect((await request(EVENTS, { key: null })).status).toBe(429);
  });

  it('cannot choose their address', async () => {
    const { request } = await build(few);
    const call = (from: string) => request(EVENTS, { key: null, headers: { 'x-forwarded-for': from } });
    for (let i = 0; i < 3; i++) await call(`198.51.100.${String(i)}`);
    expect((await call('198.51.100.99')).status).toBe(429);
  });

  it('are distinguished behind a trusted proxy', async () => {
    const { request } = await build({ ...few, trustedProxies: ['127.0.0.0/8'] });
    const call = (from: string) => request(EVENTS, { key: null, headers: { 'x-forwarded-for': from } });
    for (let i = 0; i < 3; i++) await call('203.0.113.5, 198.51.100.1');
    expect((await call('203.0.113.6, 198.51.100.1')).status).toBe(429);
    expect((await call('198.51.100.2')).status).toBe(401);
  });

  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['2001:db8:0:7:1:2:3:4', '2001:db8:0:7::/64'],
    ['2001:db8:0:7::9', '2001:db8:0:7::/64'],
    ['2001:0db8::1', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
  ])('from %s count for %s', (address, client) => expect(clientOf(address)).toBe(client));
});

describe('API keys', () => {
  it('that cannot be keys are not looked up', async () => {
    let lookUps = 0;
    const findApiKey = () => {
      lookUps++;
      return Promise.resolve(null);
    };
    const { request } = await build({ findApiKey });
    for (const key of ['wp_', 'wp_short', `wp_${'x'.repeat(129)}`, `xx_${'A'.repeat(43)}`, `wp_${'%'.repeat(43)}`]) {
      expect((await request(EVENTS, { key })).status).toBe(401);
    }
    expect(lookUps).toBe(0);
  });
});

describe('requests that are too much', () => {
  it('include a path and query of more than 8 KB', async () => {
    const { request } = await build();
    const padding = (length: number): string => `?limit=1&${'x'.repeat(length)}=1`;
    const answer = await request(EVENTS + padding(8_192));
    expect([answer.status, (answer.body as { error: { code: string } }).error.code]).toEqual([414, 'uri_too_long']);
    expect((await request(`${EVENTS}?limit=1&pageState=${'x'.repeat(8_000)}`)).status).toBe(400);
  });

  it.each([
    ['arrays', '['.repeat(50_000)],
    ['objects', '{"a":'.repeat(19_000)],
    ['closed arrays', `${'['.repeat(40_000)}${']'.repeat(40_000)}`],
    ['arrays after a string', `{"a":"\\"]]]}}}","b":${'['.repeat(40)}${']'.repeat(40)}}`],
  ])('end at 32 levels of JSON: %s', async (_what, raw) => {
    const { request, errors } = await build();
    const answer = await request(SUBSCRIPTIONS, { method: 'POST', raw });
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({
      error: { code: 'invalid_request', message: expect.stringContaining('32') as unknown },
    });
    expect(errors).toEqual([]);
  });

  it('do not include those with brackets in strings only', async () => {
    const { request } = await build();
    const answer = await request(SUBSCRIPTIONS, { method: 'POST', json: { url: '['.repeat(1_000), a: '"\\' } });
    expect(answer.body).toMatchObject({ error: { code: 'invalid_body' } });
  });
});

describe('no answer', () => {
  it.each([
    ['GET', '/public/v2/events/%E0%A4%A'],
    ['GET', '/%E0%A4%A'],
    ['GET', '//public//v2//events'],
    ['GET', '/public/v2/events/..%2f..%2fetc%2fpasswd'],
    ['GET', `${SUBSCRIPTIONS}/%00`],
    ['PROPFIND', EVENTS],
    ['OPTIONS', '/nowhere'],
    ['DELETE', '/'],
  ])('says anything of the inside: %s %s', async (method, path) => {
    const { request } = await build();
    const answer = await request(path, { method });
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expect(answer.status).toBeLessThan(500);
    expect(JSON.stringify(answer.body)).not.toMatch(
      /node_modules|node:|\.[jt]s\b|^ +at |stack|Error:|express|nestjs/im,
    );
    expect(answer.body).toEqual({
      error: {
        code: expect.any(String) as unknown,
        message: expect.any(String) as unknown,
        requestId: expect.any(String) as unknown,
      },
    });
  });
});
