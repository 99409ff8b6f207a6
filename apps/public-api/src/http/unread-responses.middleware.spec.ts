import { EventEmitter } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { Request, Response } from 'express';
import { until } from '../../../../test/support/until.js';
import { setIdentity } from '../auth/caller.js';
import type { ShareLimits } from '../limits/shares.js';
import { deliveryRecord, historyOf } from '../testing/delivery-records.js';
import { refusalOf, startTestApiPerTest, type TestApi } from '../testing/test-api.js';
import { SERVER_LIMITS } from './server-limits.js';
import { boundUnreadResponses } from './unread-responses.middleware.js';

const MIB = 1_048_576;
/** More than the sockets of a connection hold. */
const LARGE = 16 * MIB;
const PAGE = '/public/v2/events?include=body';
const NO_LIMIT: ShareLimits = { key: 1_024 * MIB, fleet: 1_024 * MIB, process: 1_024 * MIB };

const body = JSON.stringify({ text: 'x'.repeat(LARGE) });
const build = startTestApiPerTest({
  history: historyOf([deliveryRecord({ body }), deliveryRecord({ fleetId: 'other', body })]),
});
const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

const limitedTo = (limits: Partial<ShareLimits>) =>
  build({ limits: { ...SERVER_LIMITS, maxUnreadBytes: { ...NO_LIMIT, ...limits } } });

/** Asks for the page, once or several times on one connection, and reads nothing. */
function askUnread({ url }: TestApi, key: string, times = 1): Socket {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname).pause();
  sockets.push(socket);
  socket.on('error', () => undefined);
  socket.write(`GET ${PAGE} HTTP/1.1\r\nHost: api\r\nAuthorization: Bearer ${key}\r\n\r\n`.repeat(times));
  return socket;
}

const statusOf = async ({ request }: TestApi, key: string) => (await request(PAGE, { key })).status;

describe('responses that are not read (R-37)', () => {
  it('end what a key may ask for, and no other key, until their connections have gone', async () => {
    const api = await limitedTo({ key: LARGE + MIB });
    const key = api.addKey('acme');
    askUnread(api, key);
    await until(async () => (await statusOf(api, key)) === 429);
    const refused = await api.request(PAGE, { key });
    expect(refused.headers.get('retry-after')).toBe('5');
    expect(refusalOf(refused)).toMatchObject({
      code: 'rate_limited',
      message: expect.stringContaining('17 MiB') as unknown,
    });
    expect((await api.request('/public/v1/session', { key })).status).toBe(200);
    expect(await statusOf(api, api.addKey('acme'))).toBe(200);

    for (const socket of sockets) socket.destroy();
    await until(async () => (await statusOf(api, key)) === 200);
  });

  it('are bounded for many connections, and for many requests on one, however many ask', async () => {
    const api = await limitedTo({ key: 3 * LARGE });
    const key = api.addKey('acme');
    for (let n = 0; n < 4; n++) askUnread(api, key, 5);
    await until(async () => (await statusOf(api, key)) === 429);
    // Those behind others on their connection, too, are given back.
    for (const socket of sockets) socket.destroy();
    await until(async () => (await statusOf(api, key)) === 200);
  });

  it('end what a fleet may ask for with any keys, and no other fleet', async () => {
    const api = await limitedTo({ fleet: LARGE + MIB });
    askUnread(api, api.addKey('acme'));
    await until(async () => (await statusOf(api, api.addKey('acme'))) === 429);
    expect(await statusOf(api, api.addKey('other'))).toBe(200);
  });

  it('end what the process gives to anyone', async () => {
    const api = await limitedTo({ process: LARGE + MIB });
    askUnread(api, api.addKey('acme'));
    await until(async () => (await statusOf(api, api.addKey('other'))) === 503);
    const refused = await api.request(PAGE, { key: api.addKey('other') });
    expect([refusalOf(refused).code, refused.headers.get('retry-after')]).toEqual(['unavailable', '5']);
    expect((await api.request('/public/openapi.json', { key: null })).status).toBe(503);
  });

  describe('where a caller may have 40 KB of them', () => {
    /** Answers a request of the one caller, whose connection takes nothing; what has been sent. */
    function build() {
      const bound = boundUnreadResponses({ ...NO_LIMIT, key: 40_000 });
      return (method: string, text: string): string[] => {
        const sent: string[] = [];
        const socket = Object.assign(new EventEmitter(), { destroyed: false });
        const request = { method, ip: '192.0.2.1', socket } as unknown as Request;
        const send = (body: string) => void sent.push(body);
        const response = Object.assign(new EventEmitter(), { req: request, send, closed: false, removeHeader: send });
        setIdentity(request, { type: 'anonymous' });
        bound(request, response as unknown as Response, () => undefined);
        response.send(text);
        return sent;
      };
    }

    it('are counted in bytes, of which a character may have several', () => {
      const answer = build();
      const text = '\u00e9'.repeat(15_000);
      expect(answer('GET', text)).toEqual([text]);
      expect(() => answer('GET', text)).toThrow('unread responses');
    });

    it('do not end the response to what has been done, which would look as if it had not been', () => {
      const answer = build();
      const text = 'x'.repeat(30_000);
      answer('GET', text);
      for (const method of ['POST', 'PATCH', 'DELETE']) expect(answer(method, text)).toEqual([text]);
      expect(() => answer('GET', text)).toThrow('unread responses');
    });
  });
});
