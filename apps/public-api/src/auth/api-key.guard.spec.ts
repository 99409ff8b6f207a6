import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { formatCredential } from '@waypost/domain';
import { startTestApiPerTest } from '../testing/test-api.js';

const build = startTestApiPerTest();

const EVENTS = '/public/v2/events';

describe('the API key guard (R-37)', () => {
  it.each([
    ['no key', {}],
    ['another scheme', { authorization: 'Basic d3A6eA==' }],
    ['an empty key', { authorization: 'Bearer ' }],
    ['an unknown key', { authorization: 'Bearer wp_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA' }],
    ['two words', { authorization: 'Bearer wp_a wp_b' }],
  ])('answers 401 with a challenge to %s', async (_, headers) => {
    const { request } = await build();
    const answer = await request(EVENTS, { key: null, headers });
    expect(answer.status).toBe(401);
    expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer realm="waypost"/);
    expect(answer.body).toMatchObject({ error: { code: 'unauthorized' } });
  });

  it('takes the scheme in any case', async () => {
    const { request, addKey } = await build();
    expect((await request(EVENTS, { key: null, headers: { authorization: `bearer ${addKey('acme')}` } })).status).toBe(
      200,
    );
  });

  it.each([
    ['events:read', 'GET', EVENTS],
    ['events:read', 'GET', '/public/v1/webhook-events'],
    ['subscriptions:read', 'GET', '/public/v1/webhook-subscriptions'],
    ['subscriptions:read', 'GET', '/public/v1/webhook-subscriptions/x'],
    ['subscriptions:write', 'POST', '/public/v1/webhook-subscriptions'],
    ['subscriptions:write', 'PATCH', '/public/v1/webhook-subscriptions/x'],
    ['subscriptions:write', 'DELETE', '/public/v1/webhook-subscriptions/x'],
    ['subscriptions:write', 'POST', '/public/v1/webhook-subscriptions/x/rotate-secret'],
  ])('wants the scope %s for %s %s', async (scope, method, path) => {
    const { request, addKey } = await build();
    const others = ['events:read', 'subscriptions:read', 'subscriptions:write'].filter((other) => other !== scope);

    const refused = await request(path, { method, key: addKey('acme', others) });
    expect(refused.status).toBe(403);
    expect(refused.body).toMatchObject({
      error: { code: 'forbidden', message: expect.stringContaining(scope) as unknown },
    });
    expect((await request(path, { method, key: addKey('acme', [scope]) })).status).not.toBe(403);
  });

  it('counts calls for each key on its own', async () => {
    let nowMs = Date.now();
    const { request, addKey } = await build({ rateLimit: { perSecond: 2, burst: 2 }, now: () => nowMs });
    const [one, other] = [addKey('acme'), addKey('acme')];
    const call = async (key: string) => (await request(EVENTS, { key })).status;
    expect([await call(one), await call(one), await call(one), await call(other)]).toEqual([200, 200, 429, 200]);
    nowMs += 500;
    expect([await call(one), await call(one)]).toEqual([200, 429]);
  });

  it('counts calls with an admin key like those with an API key, and says what it has left (R-43)', async () => {
    const admin = formatCredential('adminKey', Buffer.alloc(32, 1));
    const rateLimit = { perSecond: 1, burst: 2 };
    const { request } = await build({
      rateLimit,
      adminKeyHashes: [createHash('sha256').update(admin).digest()],
      now: () => 1_000_000,
    });
    const answers = [];
    for (let n = 0; n < 3; n++) answers.push(await request('/public/v1/session', { key: admin }));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 429]);
    const left = answers.map(({ headers }) => headers.get('ratelimit'));
    expect(left).toEqual(['"key";r=1;t=1', '"key";r=0;t=2', '"key";r=0;t=2']);
  });

  it('also counts calls of public endpoints against the key they send', async () => {
    const { request } = await build({ rateLimit: { perSecond: 1, burst: 2 }, now: () => 1_000_000 });
    const statuses: number[] = [];
    for (const path of ['/public/openapi.json', '/nowhere', '/public/openapi.json']) {
      statuses.push((await request(path)).status);
    }
    expect(statuses).toEqual([200, 404, 429]);
  });

  it('lets anyone read the description', async () => {
    const { request } = await build();
    expect((await request('/public/openapi.json', { key: null })).status).toBe(200);
  });
});
