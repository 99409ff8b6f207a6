import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { exchange, type RawAnswer } from '../testing/raw-exchange.js';
import { startTestApi, type TestApi, type TestApiOptions } from '../testing/test-api.js';

const WINDOW = 'startDate=2026-03-01T00:00:00Z&endDate=2026-04-01T00:00:00Z';
const FLEET = {
  fleetId: 'acme',
  name: null,
  payloadFormat: 'v1',
  routes: false,
  version: 3,
  createdAt: 0,
  updatedAt: 0,
};

let api: TestApi;
let key: string;
beforeAll(async () => {
  const listed = { list: () => Promise.resolve({ rows: [], hasMore: false }) };
  const found = { list: () => Promise.resolve([]) };
  const store = {
    fleets: { find: () => Promise.resolve(FLEET) },
    apiKeys: listed,
    subscriptions: listed,
    operationalEvents: found,
    replays: found,
    geofences: listed,
  };
  api = await startTestApi({ store: store as unknown as NonNullable<TestApiOptions['store']> });
  key = api.addKey('acme');
});
afterAll(async () => {
  await api.close();
});

/** Not by fetch: it asks for a fresh answer whenever it sends a condition. */
function get(path: string, tag: string): Promise<RawAnswer> {
  const head = `Host: api\r\nAuthorization: Bearer ${key}\r\nIf-None-Match: ${tag}\r\nConnection: close\r\n\r\n`;
  return exchange(api.url, [`GET ${path} HTTP/1.1\r\n${head}`]);
}

describe('If-None-Match (RFC 9110)', () => {
  it.each([
    `/public/v1/webhook-events?${WINDOW}`,
    '/public/v2/events',
    `/public/v1/paths?${WINDOW}`,
    '/public/v1/webhook-subscriptions',
    '/public/v1/geofences',
    '/public/v1/api-keys',
    '/public/openapi.json',
  ])('does not keep %s back, which has no ETag', async (path) => {
    for (const tag of ['*', '"1"']) {
      const answer = await get(path, tag);
      expect(answer.status).toBe(200);
      expect(answer.body).toContain('{');
    }
  });

  it('saves a body where there is an ETag', async () => {
    for (const tag of ['"3"', 'W/"3"', '"1", "3"', '*']) {
      const answer = await get('/public/v1/fleet', tag);
      expect([answer.status, answer.body]).toEqual([304, '']);
      expect(answer.headers).toContain('etag: "3"');
    }
    expect((await get('/public/v1/fleet', '"2"')).status).toBe(200);
  });
});

describe('HEAD (RFC 9110)', () => {
  it('is answered where GET is, without the body', async () => {
    for (const path of ['/public/v2/events', '/public/v1/geofences', '/public/openapi.json']) {
      const answer = await fetch(api.url + path, { method: 'HEAD', headers: { authorization: `Bearer ${key}` } });
      expect([answer.status, await answer.text()]).toEqual([200, '']);
    }
  });

  it('is refused, with what is supported, where only others are', async () => {
    const answer = await api.request('/public/v1/portal-sessions/exchange', { method: 'HEAD', key });
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST']);
  });
});
