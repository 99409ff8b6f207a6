import { getEventListeners } from 'node:events';
import { inspect } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { answeringServices, error, KEY, NO_PAGE } from '../test/answering-service.js';
import { createWaypostClient } from './client.js';
import { WaypostApiError, WaypostConnectionError } from './errors.js';
import { backOffMs } from './retries.js';

const { build, listen } = answeringServices();
const FLEET = { status: 200, headers: { etag: '"3"', 'x-request-id': 'r-1' }, body: { id: 'tour' } };

async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => 'resolved',
    (reason: unknown) => reason,
  );
}

describe('a request of the client (R-43)', () => {
  it('has the key, the path and the query, dates in ISO 8601 and each value of a list', async () => {
    const { received, waypost } = await build([NO_PAGE]);
    const from = new Date('2026-03-01T10:00:00+01:00');
    await waypost.listEvents({ startDate: from, eventType: ['position', 'geofence_in'], limit: 5 });

    expect(received).toMatchObject([{ method: 'GET', headers: { authorization: `Bearer ${KEY}` } }]);
    expect(received[0]?.url).toBe(
      '/public/v2/events?startDate=2026-03-01T09%3A00%3A00.000Z&eventType=position&eventType=geofence_in&limit=5',
    );
  });

  it('names the fleet that an admin key acts for, and none otherwise', async () => {
    const admin = await build([FLEET], { apiKey: 'wpa_test', fleetId: 'tour' });
    await admin.waypost.getFleet();
    expect(admin.received[0]?.headers).toMatchObject({ authorization: 'Bearer wpa_test', 'x-waypost-fleet': 'tour' });
    const { received, waypost } = await build([FLEET]);
    await waypost.getFleet();
    expect(received[0]?.headers).not.toHaveProperty('x-waypost-fleet');
  });

  it('joins the device ids of paths with commas', async () => {
    const { received, waypost } = await build([{ status: 200, body: { data: [], next_page_state: null } }]);
    await waypost.listPaths({ startDate: 'a', endDate: 'b', deviceIds: ['x/1', 'y'] });
    expect(received[0]?.url).toBe('/public/v1/paths?startDate=a&endDate=b&deviceIds=x%2F1%2Cy');
  });

  it('is not sent with a device id that has a comma, which would ask for other devices', async () => {
    const { received, waypost } = await build([NO_PAGE]);
    const failure = await failureOf(waypost.listPaths({ startDate: 'a', endDate: 'b', deviceIds: ['x', 'y,z'] }));
    expect(failure).toBeInstanceOf(TypeError);
    expect(String(failure)).toContain("deviceIds cannot have 'y,z'");
    expect(received).toEqual([]);
  });

  it.each(['', '/', '/waypost', '/waypost/'])('goes below the path of the base URL, %j', async (path) => {
    const urls: (string | undefined)[] = [];
    const baseUrl = await listen(({ url }, response) => void (urls.push(url), response.end('{}')));
    await createWaypostClient({ apiKey: KEY, baseUrl: baseUrl + path }).getFleet();
    expect(urls).toEqual([`${path.replace(/\/$/, '')}/public/v1/fleet`]);
  });

  it('does not follow a redirect: what it holds is for the base URL alone', async () => {
    const followed: (string | undefined)[] = [];
    const elsewhere = await listen(({ url }, response) => void (followed.push(url), response.end('{}')));
    const redirect = { status: 307, headers: { location: `${elsewhere}/elsewhere` } };
    const { waypost } = await build([redirect], { retry: { retries: 0 } });
    expect(await failureOf(waypost.updateFleet({ body: { name: 'Tour' } }))).toBeInstanceOf(WaypostConnectionError);
    expect(followed).toEqual([]);
  });

  it('has the body as JSON, and escapes what stands in the path', async () => {
    const { received, waypost } = await build([FLEET]);
    await waypost.updateGeofence({ id: '../x', body: { name: 'Depot' } }, { ifMatch: '"3"' });
    expect(received).toMatchObject([
      { method: 'PATCH', url: '/public/v1/geofences/..%2Fx', body: '{"name":"Depot"}', headers: { 'if-match': '"3"' } },
    ]);
    expect(received[0]?.headers['content-type']).toBe('application/json');
  });

  it.each(['', '.', '..'])('is not sent with the id %j, which would make it another operation', async (id) => {
    const { received, waypost } = await build([FLEET]);
    expect(await failureOf(waypost.deleteGeofence({ id }))).toBeInstanceOf(TypeError);
    expect(await failureOf(waypost.updateGeofence({ id, body: { name: 'Depot' } }))).toBeInstanceOf(TypeError);
    expect(received).toEqual([]);
  });

  it('resolves to the body, and with call() to the status, the ETag and the id of the request, too', async () => {
    const { waypost } = await build([FLEET]);
    expect(await waypost.getFleet()).toEqual({ id: 'tour' });
    expect(await waypost.call('getFleet')).toEqual({
      status: 200,
      body: { id: 'tour' },
      etag: '"3"',
      requestId: 'r-1',
    });
  });

  it('resolves to undefined when the response has no body', async () => {
    const { waypost } = await build([{ status: 204 }]);
    expect(await waypost.call('deleteGeofence', { id: 'g' })).toMatchObject({ status: 204, body: undefined });
  });

  it.each([
    ['ifMatch', { ifMatch: '"3"' }],
    ['idempotencyKey', { idempotencyKey: 'k' }],
  ])('is not sent with %s where it would have no effect', async (name, options) => {
    const { received, waypost } = await build([FLEET]);
    expect(String(await failureOf(waypost.getFleet({}, options)))).toContain(`does not take ${name}`);
    expect(received).toEqual([]);
  });
});

describe('retries of the client', () => {
  it('repeat a creation with the same idempotency key, after a lost connection too', async () => {
    const { received, waypost } = await build([null, error(503, 'unavailable'), { status: 201, body: { id: 'g' } }]);
    await waypost.createGeofence({
      body: { name: 'Depot', shape: { type: 'circle', center: { latitude: 1, longitude: 2 }, radiusInMeters: 10 } },
    });
    const keys = received.map(({ headers }) => headers['idempotency-key']);
    expect(keys).toHaveLength(3);
    expect(new Set(keys).size).toBe(1);
    expect(keys[0]).toMatch(/^[\da-f]{32}$/);
  });

  it('send a key from a page without TLS too, where there is no randomUUID', async () => {
    Object.defineProperty(crypto, 'randomUUID', { value: undefined, configurable: true });
    try {
      const { waypost, received } = await build([{ status: 202, body: {} }]);
      await waypost.sendTestEvent({ id: 's' });
      await waypost.sendTestEvent({ id: 's' });
      const keys = received.map(({ headers }) => headers['idempotency-key']);
      expect(keys).toEqual([expect.stringMatching(/^[\da-f]{32}$/), expect.stringMatching(/^[\da-f]{32}$/)]);
      expect(new Set(keys).size).toBe(2);
    } finally {
      // That of its prototype is there again.
      Reflect.deleteProperty(crypto, 'randomUUID');
    }
  });

  it('use the idempotency key of the caller', async () => {
    const { received, waypost } = await build([{ status: 202, body: {} }]);
    await waypost.sendTestEvent({ id: 's' }, { idempotencyKey: 'mine' });
    expect(received[0]?.headers['idempotency-key']).toBe('mine');
  });

  it('wait as long as Retry-After says', async () => {
    const { received, waypost } = await build([error(429, 'rate_limited', { 'retry-after': '1' }), FLEET]);
    const startedAt = performance.now();
    await waypost.getFleet();
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(990);
    expect(received).toHaveLength(2);
  });

  it('end where Retry-After is longer than the longest wait', async () => {
    const { received, waypost } = await build([error(429, 'rate_limited', { 'retry-after': '60' })]);
    expect(await failureOf(waypost.getFleet())).toMatchObject({
      code: 'rate_limited',
      retryAfterMs: 60_000,
      attempts: 1,
    });
    expect(received).toHaveLength(1);
  });

  it('read a Retry-After that is a date, as what stands before the service may write it', async () => {
    const at = new Date(Date.now() + 3_600_000).toUTCString();
    const { received, waypost } = await build([error(503, 'unavailable', { 'retry-after': at })]);
    const failure = (await failureOf(waypost.getFleet())) as WaypostApiError;
    expect(failure.retryAfterMs).toBeGreaterThan(3_000_000);
    expect(failure.retryAfterMs).toBeLessThanOrEqual(3_600_000);
    expect(received).toHaveLength(1);
  });

  it.each([
    ['a change that depends on a version', (waypost: Client) => waypost.updateFleet({ body: {} }, { ifMatch: '"3"' })],
    ['a POST without an idempotency key', (waypost: Client) => waypost.cancelReplay({ id: 's', replayId: 'r' })],
  ])('leave %s alone when it may have been carried out', async (_what, send) => {
    const { received, waypost } = await build([null]);
    expect(await failureOf(send(waypost))).toBeInstanceOf(WaypostConnectionError);
    expect(received).toHaveLength(1);
  });

  it.each([
    ['no answer', [null]],
    ['a failure', [error(503, 'unavailable')]],
    ['no answer, and then a refusal', [null, error(429, 'rate_limited')]],
  ])('take a resource that is gone for deleted by a DELETE that got %s', async (_what, before) => {
    const { waypost } = await build([...before, error(404, 'not_found')]);
    expect(await waypost.call('deleteGeofence', { id: 'g' })).toMatchObject({ status: 204, body: undefined });
  });

  it.each([
    [
      'that is being carried out',
      error(409, 'idempotency_in_progress'),
      (waypost: Client) => waypost.sendTestEvent({ id: 's' }),
    ],
    [
      'that was refused for its number, also without a key',
      error(429, 'rate_limited'),
      (waypost: Client) => waypost.cancelReplay({ id: 's', replayId: 'r' }),
    ],
  ])('repeat a POST %s', async (_what, refusal, send) => {
    const { received, waypost } = await build([refusal, { status: 200, body: {} }]);
    expect(await send(waypost)).toEqual({});
    expect(received).toHaveLength(2);
  });

  it('leave no listener on the signal of the caller, which may live for long', async () => {
    const { signal } = new AbortController();
    const { received, waypost } = await build([error(503, 'unavailable'), error(503, 'unavailable'), FLEET]);
    await waypost.getFleet({}, { signal });
    expect([received.length, getEventListeners(signal, 'abort').length]).toEqual([3, 0]);
  });

  it('wait twice as long each time, but no longer than the longest wait', () => {
    const mostOf = (number: number): number =>
      Math.max(...Array.from({ length: 200 }, () => backOffMs(number, { baseDelayMs: 100, maxDelayMs: 1_000 })));
    for (const [number, most] of [
      [1, 100],
      [2, 200],
      [4, 800],
      [5, 1_000],
      [40, 1_000],
    ] as const) {
      expect(mostOf(number)).toBeLessThanOrEqual(most);
      expect(mostOf(number)).toBeGreaterThan(most / 2);
    }
  });

  it('report a resource that is not there when each DELETE before was refused', async () => {
    const { waypost } = await build([error(429, 'rate_limited'), error(404, 'not_found')]);
    expect(await failureOf(waypost.deleteGeofence({ id: 'g' }))).toMatchObject({ code: 'not_found', attempts: 2 });
  });

  it('report what is not there to any other request, also after an attempt that failed', async () => {
    const { waypost } = await build([error(503, 'unavailable'), error(404, 'not_found')]);
    expect(await failureOf(waypost.getGeofence({ id: 'g' }))).toMatchObject({ code: 'not_found', attempts: 2 });
  });

  it.each([408, 425, 429, 500, 502, 503, 504])('happen after a %d, which may be over soon', async (status) => {
    const { received, waypost } = await build([error(status, 'unavailable'), FLEET]);
    expect(await waypost.getFleet()).toEqual({ id: 'tour' });
    expect(received).toHaveLength(2);
  });

  it.each([400, 401, 403, 404, 409, 412, 422])('do not happen after a %d', async (status) => {
    const { received, waypost } = await build([error(status, 'conflict')]);
    expect(await failureOf(waypost.getFleet())).toMatchObject({ status, attempts: 1 });
    expect(received).toHaveLength(1);
  });

  it('stop after the given number, and the error says how many attempts there were', async () => {
    const { received, waypost } = await build([error(500, 'internal_error')], { retry: { retries: 2 } });
    expect(await failureOf(waypost.getFleet())).toMatchObject({ code: 'internal_error', attempts: 3 });
    expect(received).toHaveLength(3);
  });

  it.each([undefined, new AbortController().signal])(
    'give each attempt its own time limit, beside the signal %s of the caller',
    async (signal) => {
      const silent = createWaypostClient({
        apiKey: KEY,
        timeoutMs: 20,
        retry: { retries: 1, baseDelayMs: 1 },
        baseUrl: await listen(() => undefined),
      });
      const failure = await failureOf(silent.getFleet({}, signal && { signal }));
      expect(failure).toMatchObject({ name: 'WaypostConnectionError', attempts: 2 });
    },
  );
});

type Client = ReturnType<typeof createWaypostClient>;

function cyclic(): object {
  const value: Record<string, unknown> = {};
  value['self'] = value;
  return value;
}

describe('errors of the client', () => {
  it('have the code, the details and the id of the request', async () => {
    const details = [{ parameter: 'limit', message: 'must be at least 1' }];
    const body = {
      error: { code: 'invalid_parameter', message: 'limit must be at least 1', details, requestId: 'r-2' },
    };
    const { waypost } = await build([{ status: 400, body }]);
    const failure = await failureOf(waypost.listEvents({ limit: 0 }));
    expect(failure).toBeInstanceOf(WaypostApiError);
    expect(failure).toMatchObject({
      status: 400,
      code: 'invalid_parameter',
      details,
      requestId: 'r-2',
      retryAfterMs: null,
    });
    expect(String(failure)).toBe('WaypostApiError: 400 invalid_parameter: limit must be at least 1');
  });

  it.each([
    ['an error', { status: 418, headers: { 'x-request-id': 'r-3' }, body: '<html>' }],
    ['a success', { status: 200, headers: { 'x-request-id': 'r-3' }, body: '<html>' }],
  ])('have the code unknown when %s of something else is not JSON', async (_what, answer) => {
    const { waypost } = await build([answer]);
    expect(await failureOf(waypost.getFleet())).toMatchObject({ code: 'unknown', details: [], requestId: 'r-3' });
  });

  it.each([
    ['a body with a BigInt', (waypost: Client) => waypost.updateFleet({ body: { timeZone: 1n } as never })],
    ['a body that holds itself', (waypost: Client) => waypost.updateFleet({ body: cyclic() })],
    ['a value that no header can have', (waypost: Client) => waypost.updateFleet({ body: {} }, { ifMatch: 'a\nb' })],
  ])('are a TypeError at once for %s', async (_what, send) => {
    const { received, waypost } = await build([FLEET]);
    expect(await failureOf(send(waypost))).toBeInstanceOf(TypeError);
    expect(received).toEqual([]);
  });

  it.each([
    ['a key that no header can have', { apiKey: `${KEY}\n${KEY}` }],
    ['an address with a password', { baseUrl: `http://me:${KEY}@localhost` }],
  ])('are a TypeError without it for %s', async (_what, options) => {
    const { received, waypost } = await build([FLEET], options);
    const failure = (await failureOf(waypost.getFleet())) as Error;
    expect(failure).toBeInstanceOf(TypeError);
    expect(inspect(failure)).not.toContain(KEY);
    expect(() => waypost.stream('streamAttempts')).toThrow(TypeError);
    expect(received).toEqual([]);
  });

  it('never hold the key', async () => {
    const { waypost } = await build([null], { retry: { retries: 0 } });
    const failure = (await failureOf(waypost.getFleet())) as Error;
    expect(`${failure.message} ${String(failure.cause)} ${failure.stack ?? ''}`).not.toContain(KEY);
  });
});

describe('an aborted call', () => {
  it('rejects with the reason of the signal, before and during a request', async () => {
    const reason = new Error('enough');
    const { received, waypost } = await build([FLEET]);
    expect(await failureOf(waypost.getFleet({}, { signal: AbortSignal.abort(reason) }))).toBe(reason);
    expect(received).toEqual([]);

    const silent = createWaypostClient({ apiKey: KEY, baseUrl: await listen(() => undefined) });
    const controller = new AbortController();
    const failure = failureOf(silent.getFleet({}, { signal: controller.signal }));
    setTimeout(() => controller.abort(reason), 20);
    expect(await failure).toBe(reason);
  });

  it('rejects while it waits for a retry', async () => {
    const { waypost } = await build([error(429, 'rate_limited', { 'retry-after': '20' })]);
    const reason = new Error('enough');
    const controller = new AbortController();
    const failure = failureOf(waypost.getFleet({}, { signal: controller.signal }));
    setTimeout(() => controller.abort(reason), 100);
    expect(await failure).toBe(reason);
  });
});
