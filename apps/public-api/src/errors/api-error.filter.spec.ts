import { gzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { FleetBusyError } from '@waypost/database';
import { startTestApiPerTest } from '../testing/test-api.js';

const SUBSCRIPTIONS = '/public/v1/webhook-subscriptions';

const build = startTestApiPerTest();

function failingWith(error: Error) {
  const fail = () => Promise.reject(error);
  return { findDeliveries: fail, findWaiting: fail, findEvent: fail };
}

describe('error answers (R-37)', () => {
  it.each([
    [404, 'not_found', '/', {}],
    [404, 'not_found', '/public/v3/events', {}],
    [404, 'not_found', `${SUBSCRIPTIONS}/00000000-0000-4000-8000-000000000000/nothing`, { method: 'POST' }],
    [404, 'not_found', `${SUBSCRIPTIONS}/not-an-id`, {}],
    [405, 'method_not_allowed', '/public/v2/events', { method: 'POST', json: {} }],
    [405, 'method_not_allowed', SUBSCRIPTIONS, { method: 'PUT', json: {} }],
    [405, 'method_not_allowed', `${SUBSCRIPTIONS}/x/rotate-secret`, {}],
    [400, 'invalid_request', SUBSCRIPTIONS, { method: 'POST', raw: '{"url":' }],
    [400, 'invalid_request', `${SUBSCRIPTIONS}/%E0%A4%A`, {}],
    [400, 'invalid_body', SUBSCRIPTIONS, { method: 'POST' }],
    [400, 'invalid_body', SUBSCRIPTIONS, { method: 'POST', raw: '[]' }],
    [413, 'body_too_large', SUBSCRIPTIONS, { method: 'POST', json: { url: 'x'.repeat(110_000) } }],
    [
      415,
      'unsupported_media_type',
      SUBSCRIPTIONS,
      { method: 'POST', raw: 'a=b', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
    ],
    [
      415,
      'unsupported_media_type',
      SUBSCRIPTIONS,
      { method: 'POST', raw: '{}', headers: { 'content-type': 'application/json; charset=latin1' } },
    ],
    [
      415,
      'unsupported_media_type',
      SUBSCRIPTIONS,
      { method: 'POST', raw: '{}', headers: { 'content-encoding': 'zebra' } },
    ],
    [
      400,
      'invalid_request',
      SUBSCRIPTIONS,
      { method: 'POST', raw: 'not gzip', headers: { 'content-encoding': 'gzip' } },
    ],
  ])('are %i %s for %s %j', async (status, code, path, request) => {
    const { request: send } = await build();
    const answer = await send(path, request);
    expect(answer.status).toBe(status);
    expect(answer.body).toEqual({
      error: {
        code,
        message: expect.any(String) as unknown,
        requestId: expect.any(String) as unknown,
        ...(code === 'invalid_body' ? { details: expect.any(Array) as unknown } : {}),
      },
    });
  });

  it('name the methods that a path has', async () => {
    const { request } = await build();
    expect((await request(`${SUBSCRIPTIONS}/x`, { method: 'PUT' })).headers.get('allow')).toBe(
      'GET, DELETE, PATCH, HEAD',
    );
  });

  it('stop a body that unpacks to more than the limit', async () => {
    const { request } = await build();
    const raw = gzipSync(JSON.stringify({ url: 'x'.repeat(5_000_000) }));
    const answer = await request(SUBSCRIPTIONS, { method: 'POST', raw, headers: { 'content-encoding': 'gzip' } });
    expect(answer.status).toBe(413);
  });

  it('say nothing of the inside when something fails, and log it', async () => {
    const { request, errors } = await build({ history: failingWith(new Error('secret detail at /srv/app.js:1')) });
    const answer = await request('/public/v2/events');
    expect(answer.status).toBe(500);
    expect(answer.body).toEqual({
      error: {
        code: 'internal_error',
        message: 'The service failed to process this request.',
        requestId: answer.headers.get('x-request-id'),
      },
    });
    expect(errors).toMatchObject([{ fields: { requestId: answer.headers.get('x-request-id') } }]);
  });

  it('are 503 while the database is unavailable', async () => {
    const away = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });
    const { request } = await build({ history: failingWith(away) });
    const answer = await request('/public/v2/events');
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5']);
  });

  it('are 429 for a fleet whose requests wait for each other, and no outage (R-26)', async () => {
    const { request, errors } = await build({ history: failingWith(new FleetBusyError()) });
    const answer = await request('/public/v2/events');
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, '1']);
    expect(answer.body).toMatchObject({
      error: { code: 'rate_limited', message: expect.stringContaining('this fleet') },
    });
    expect(errors).toEqual([]);
  });
});

describe('every answer', () => {
  it('has an id of its own, whatever the client sends (R-43)', async () => {
    const { request } = await build();
    const answers = [
      await request('/public/v2/events', { headers: { 'x-request-id': 'mine' } }),
      await request('/nowhere', { headers: { 'x-request-id': 'mine' } }),
      await request('/public/openapi.json'),
    ];
    const ids = answers.map(({ headers }) => headers.get('x-request-id'));
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    expect(new Set(ids).size).toBe(3);
    expect(answers[1]?.body).toMatchObject({ error: { requestId: ids[1] } });
  });

  it('says what the key may still do (R-43)', async () => {
    const { request, addKey } = await build({ rateLimit: { perSecond: 2, burst: 4 }, now: () => 1_000_000 });
    const key = addKey('acme');
    const left = async () => (await request('/public/v2/events', { key })).headers.get('ratelimit');
    expect([await left(), await left(), await left(), await left(), await left()]).toEqual([
      '"key";r=3;t=1',
      '"key";r=2;t=1',
      '"key";r=1;t=2',
      '"key";r=0;t=2',
      '"key";r=0;t=2',
    ]);
    expect((await request('/nowhere', { key })).headers.get('ratelimit-policy')).toBe('"key";q=4;w=2');
    expect((await request('/public/openapi.json', { key: null })).headers.has('ratelimit')).toBe(false);
  });

  it('carries the security headers, is not stored and does not name the framework', async () => {
    const { request } = await build();
    for (const answer of [
      await request('/public/v2/events'),
      await request('/nowhere'),
      await request('/public/openapi.json'),
    ]) {
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
      expect(answer.headers.get('strict-transport-security')).toContain('max-age');
      expect(answer.headers.get('cache-control')).toBe('no-store');
      expect(answer.headers.has('x-powered-by')).toBe(false);
      expect(answer.headers.has('etag')).toBe(false);
      expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
    }
  });
});
