import { describe, expect, it } from '@jest/globals';
import { holdsFor, settlesWithin } from '../../../../test/support/until.js';
import type { Lookup } from '../address/dns-lookup.js';
import { bytesReadByClients } from '../testing/client-sockets.js';
import { closedAfterEach, lookupAnswering } from '../testing/opened.js';
import type { Answer } from '../testing/raw-server.js';

const OK: Answer = (socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok');

const { build, openClient, serve } = closedAfterEach();
const bytesRead = bytesReadByClients();

/** A connection is free for the next request one iteration of the event loop after its response. */
function nextIteration() {
  return new Promise((resolve) => setImmediate(resolve));
}

describe('a post', () => {
  it('sends the exact body and headers, asks for no compression, and returns status, headers and body', async () => {
    const server = await serve((socket) =>
      socket.write('HTTP/1.1 429 Slow down\r\nRetry-After: 7\r\nX-Other: 1\r\ncontent-length: 4\r\n\r\nwait'),
    );

    const result = await build()(`${server.url}?a=b`, { headers: { 'webhook-id': 'evt', 'accept-encoding': 'gzip' } });

    expect(result).toEqual({
      type: 'response',
      statusCode: 429,
      headers: { 'retry-after': '7', 'content-length': '4' },
      body: Buffer.from('wait'),
      truncated: false,
    });
    expect(server.requests[0]).toMatch(/^POST \/hook\?a=b HTTP\/1\.1\r\n/);
    expect(server.requests[0]).toMatch(/\r\nwebhook-id: evt\r\n/);
    expect(server.requests[0]).toMatch(/\r\naccept-encoding: identity\r\n/);
    expect(server.requests[0]?.endsWith('\r\n\r\n{"a":1}')).toBe(true);
  });

  it('does not follow a redirect', async () => {
    const target = await serve(OK);
    const server = await serve((socket) =>
      socket.write(`HTTP/1.1 307 Moved\r\nlocation: ${target.url}\r\ncontent-length: 0\r\n\r\n`),
    );

    expect(await build()(server.url)).toMatchObject({ type: 'response', statusCode: 307 });
    expect(target.connections).toHaveLength(0);
  });

  it('reuses a connection for the next post to the same origin', async () => {
    const server = await serve(OK);
    const post = build();

    await post(server.url);
    await nextIteration();
    await post(server.url);

    expect(server.requests).toHaveLength(2);
    expect(server.connections).toHaveLength(1);
  });

  it('ignores proxies set in the environment', async () => {
    const proxy = await serve(OK);
    const server = await serve(OK);
    const saved = process.env['HTTP_PROXY'];
    process.env['HTTP_PROXY'] = `http://127.0.0.1:${String(proxy.port)}`;
    try {
      expect(await build()(server.url)).toMatchObject({ statusCode: 200 });
    } finally {
      if (saved === undefined) delete process.env['HTTP_PROXY'];
      else process.env['HTTP_PROXY'] = saved;
    }
    expect(proxy.connections).toHaveLength(0);
  });
});

/** Of this thread, those that keep the process alive. */
function timers(): number {
  return process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
}

describe('a client', () => {
  it('keeps no timer of a post that is over, however it ended', async () => {
    const server = await serve(OK);
    const silent = await serve(() => undefined);
    const post = build();
    const stop = new AbortController();
    const before = timers();

    const aborted = [1, 2].map(() => post(silent.url, { signal: stop.signal, deadlineMs: 60_000 }));
    const url = `http://unknown.example:${String(server.port)}/`;
    await Promise.all([post(server.url), post(server.url, { keepBody: false }), post(server.url), post(url)]);
    stop.abort();
    await Promise.all(aborted);
    await nextIteration();

    expect(timers()).toBeLessThanOrEqual(before);
  });

  it('that is closed sends nothing more, and opens no connection', async () => {
    const server = await serve(OK);
    const client = openClient();
    await client.close();

    expect(await client.post({ url: server.url, headers: {}, body: '{}', deadlineMs: 500 })).toEqual({
      type: 'error',
      errorCode: 'network_error',
      detail: 'the client is closed',
    });
    await nextIteration();
    expect(server.connections).toHaveLength(0);
  });
});

describe('a post that fails', () => {
  it('times out when no status arrives within the deadline', async () => {
    const server = await serve(() => undefined);

    expect(await build()(server.url, { deadlineMs: 60 })).toEqual({
      type: 'error',
      errorCode: 'timeout',
      detail: 'no response within 60 ms',
    });
  });

  it('times out when the name is not resolved within the deadline, and sends nothing afterwards', async () => {
    const server = await serve(OK);
    let answer: (addresses: { address: string; family: number }[]) => void = () => undefined;
    const late: Lookup = () => new Promise((resolve) => (answer = resolve));

    const result = await build({ lookup: late })(`http://slow.example:${String(server.port)}/`, { deadlineMs: 60 });
    answer([{ address: '127.0.0.1', family: 4 }]);

    expect(result).toMatchObject({ errorCode: 'timeout' });
    await holdsFor(60, () => {
      expect(server.requests).toHaveLength(0);
    });
  });

  it('says connection_refused where nothing listens', async () => {
    const server = await serve(OK);
    await server.stop();

    expect(await build()(server.url)).toEqual({
      type: 'error',
      errorCode: 'connection_refused',
      detail: 'connect ECONNREFUSED',
      isUnsent: true,
    });
  });

  it('says connection_reset when the connection ends without a response', async () => {
    const server = await serve((socket) => socket.end());

    expect(await build()(server.url)).toMatchObject({ type: 'error', errorCode: 'connection_reset' });
  });

  it('says url_refused for http when only https may be called', async () => {
    const server = await serve(OK);

    expect(await build({ allowHttp: false })(server.url)).toMatchObject({ type: 'error', errorCode: 'url_refused' });
    expect(server.connections).toHaveLength(0);
  });

  it('settles as aborted when the caller aborts', async () => {
    const server = await serve(() => undefined);
    const abort = new AbortController();

    const result = build()(server.url, { signal: abort.signal });
    abort.abort();

    expect(await result).toEqual({ type: 'aborted' });
    expect(await build()(server.url, { signal: abort.signal })).toEqual({ type: 'aborted' });
  });
});

describe('a response whose body misbehaves (R-20)', () => {
  it.each([
    ['has announced more than it sends', 'content-length: 50\r\n\r\nshort'],
    ['trickles without an end', 'transfer-encoding: chunked\r\n\r\n5\r\nshort\r\n'],
  ])('counts with its status, cut at the deadline, when it %s', async (_case, rest) => {
    const server = await serve((socket) => socket.write(`HTTP/1.1 202 Accepted\r\n${rest}`));

    const post = build()(server.url, { deadlineMs: 800 });

    expect(await settlesWithin(1_200, post)).toBe(true);
    expect(await post).toMatchObject({
      type: 'response',
      statusCode: 202,
      body: Buffer.from('short'),
      truncated: true,
    });
  });

  it('counts with its status when the connection is reset after the head', async () => {
    const server = await serve((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\nshort');
      setTimeout(() => socket.resetAndDestroy(), 20);
    });

    expect(await build()(server.url)).toMatchObject({ type: 'response', statusCode: 200, truncated: true });
  });

  it('is read to the limit and no further when it is endless', async () => {
    const server = await serve((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      const fill = (): void => {
        while (!socket.destroyed && socket.write('x'.repeat(16_384)));
      };
      socket.on('drain', fill);
      fill();
    });

    const result = await build()(server.url, { deadlineMs: 5_000 });

    expect(result).toMatchObject({
      type: 'response',
      statusCode: 200,
      body: Buffer.from('x'.repeat(4_096)),
      truncated: true,
    });
    // The first 64 KiB are drained to keep the connection, and what one pass over the socket had read already.
    expect(bytesRead()).toBeLessThan(131_072);
  });

  it('is read up to the limit that the caller sets', async () => {
    const server = await serve((socket) =>
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 6000\r\n\r\n${'y'.repeat(6_000)}`),
    );
    const post = build();

    expect(await post(server.url, { maxResponseBytes: 6_000 })).toMatchObject({
      body: { length: 6_000 },
      truncated: false,
    });
    expect(await post(server.url, { maxResponseBytes: 5_999 })).toMatchObject({
      body: { length: 5_999 },
      truncated: true,
    });
  });

  it('is not kept when the caller does not wait for it', async () => {
    const server = await serve(OK);

    expect(await build()(server.url, { keepBody: false })).toEqual({
      type: 'response',
      statusCode: 200,
      headers: { 'content-length': '2' },
      body: Buffer.alloc(0),
      truncated: false,
    });
  });

  it('is not decompressed, so that a small body cannot become a large one', async () => {
    const server = await serve((socket) =>
      socket.write('HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 4\r\n\r\nabcd'),
    );

    expect(await build()(server.url)).toMatchObject({ body: Buffer.from('abcd') });
  });

  it('waits for the final status after an interim response', async () => {
    const server = await serve((socket) =>
      socket.write('HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n'),
    );

    expect(await build()(server.url)).toMatchObject({ type: 'response', statusCode: 204 });
  });
});

describe('the address check of a connection (R-18, R-27)', () => {
  it('refuses a literal address that is not public without connecting', async () => {
    const server = await serve(OK);

    const result = await build({ allowedSubnets: [] })(server.url);

    expect(result).toEqual({
      type: 'error',
      errorCode: 'address_refused',
      detail: '127.0.0.1 is not at a public address (loopback)',
      isUnsent: true,
    });
    expect(server.connections).toHaveLength(0);
  });

  it('refuses a host that the operator denies, without a lookup', async () => {
    const server = await serve(OK);
    const lookup = lookupAnswering(['127.0.0.1']);
    const post = build({ lookup, denied: ['hooks.example'] });

    expect(await post(`http://hooks.example:${String(server.port)}/`)).toMatchObject({
      errorCode: 'address_refused',
      detail: 'hooks.example is a host that is not called from here (denied)',
    });
    expect(lookup.asked).toEqual([]);
    expect(server.connections).toHaveLength(0);
  });

  it('refuses a host when only one of its addresses is bad', async () => {
    const server = await serve(OK);
    const lookup = lookupAnswering(['127.0.0.1', '10.0.0.7']);

    expect(await build({ lookup })(`http://mixed.example:${String(server.port)}/`)).toMatchObject({
      errorCode: 'address_refused',
      detail: 'mixed.example is not at a public address (private)',
    });
    expect(server.connections).toHaveLength(0);
  });

  it('connects to exactly the addresses that it checked, with one lookup, and sends the name as host', async () => {
    const server = await serve(OK);
    const lookup = lookupAnswering(['127.0.0.1'], ['10.0.0.7']);

    expect(await build({ lookup })(`http://hooks.example:${String(server.port)}/`)).toMatchObject({ statusCode: 200 });

    expect(lookup.asked).toEqual(['hooks.example']);
    expect(server.requests[0]).toContain(`\r\nhost: hooks.example:${String(server.port)}\r\n`);
  });

  it('checks again at each new connection, so that a name that moves to an internal address is refused', async () => {
    const server = await serve((socket) =>
      socket.end('HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n'),
    );
    const lookup = lookupAnswering(['127.0.0.1'], ['169.254.169.254']);
    const post = build({ lookup });
    const url = `http://rebound.example:${String(server.port)}/`;

    expect(await post(url)).toMatchObject({ statusCode: 200 });
    expect(await post(url)).toMatchObject({ errorCode: 'address_refused' });
    expect(server.connections).toHaveLength(1);
  });

  it('says dns_error when the name is unknown or has no address', async () => {
    const unknown: Lookup = () => Promise.reject(Object.assign(new Error('x'), { code: 'ENOTFOUND' }));

    expect(await build({ lookup: unknown })('http://unknown.example/')).toEqual({
      type: 'error',
      errorCode: 'dns_error',
      detail: 'unknown.example cannot be resolved (ENOTFOUND)',
      isUnsent: true,
    });
    expect(await build({ lookup: lookupAnswering([]) })('http://empty.example/')).toMatchObject({
      errorCode: 'dns_error',
    });
  });

  it('queries a name once for many concurrent posts', async () => {
    const server = await serve(OK);
    const lookup = lookupAnswering(['127.0.0.1']);
    const post = build({ lookup });

    await Promise.all(Array.from({ length: 4 }, () => post(`http://busy.example:${String(server.port)}/`)));

    expect(server.connections).toHaveLength(4);
    expect(lookup.asked).toHaveLength(1);
  });
});
