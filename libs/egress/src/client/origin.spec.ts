import { describe, expect, it } from '@jest/globals';
import { makeSelfSigned } from '../../../../test/support/certificates.js';
import { holdsFor, until } from '../../../../test/support/until.js';
import { closedAfterEach } from '../testing/opened.js';
import { type Answer, type RawServer, startConnectionServer, startRawServer } from '../testing/raw-server.js';
import { type EgressClientOptions, type EgressRequest } from './egress-client.js';

const HEAD = 'HTTP/1.1 200 OK\r\n';
const OK = `${HEAD}content-length: 2\r\n\r\nok`;
const answerOk: Answer = (socket) => socket.write(OK);

const { keep, openClient } = closedAfterEach();

function build(options: Partial<EgressClientOptions> = {}) {
  const client = openClient(options);
  return (url: string, request: Partial<EgressRequest> = {}) =>
    client.post({ url, headers: {}, body: '{}', deadlineMs: 2_000, ...request });
}

function afterMs(delayMs: number) {
  return new Promise((resolve) => setTimeout(resolve, delayMs));
}

/** Answers the oldest request on each call of `next`. */
function answeringOnDemand(): { answer: Answer; next: () => void } {
  const open: (() => void)[] = [];
  return {
    answer: (socket) => open.push(() => socket.write(OK)),
    next: () => open.shift()?.(),
  };
}

describe('the connections to an origin', () => {
  it('stay at one when each post waits for the previous one', async () => {
    const server = keep(await startRawServer(answerOk));
    const post = build();

    for (let count = 0; count < 20; count += 1) expect(await post(server.url)).toMatchObject({ statusCode: 200 });

    expect(server.requests).toHaveLength(20);
    expect(server.connections).toHaveLength(1);
  });

  it('never exceed the limit; further posts wait and are sent in their order', async () => {
    const { answer, next } = answeringOnDemand();
    const server = keep(await startRawServer(answer));
    const post = build({ connectionsPerOrigin: 2 });

    const posts = ['a', 'b', 'c', 'd', 'e'].map((body) => post(server.url, { body }));
    await until(() => server.requests.length === 2);
    await afterMs(30);
    expect(server.requests).toHaveLength(2);
    for (let answered = 1; answered <= 5; answered += 1) {
      next();
      await until(() => server.requests.length === Math.min(5, answered + 2));
    }

    expect((await Promise.all(posts)).map((result) => result.type === 'response' && result.statusCode)).toEqual(
      Array.from({ length: 5 }, () => 200),
    );
    expect(server.requests.map((request) => request.slice(-1)).slice(2)).toEqual(['c', 'd', 'e']);
    expect(server.connections).toHaveLength(2);
  });

  it('are not used by a post that is not wanted any more when one is free', async () => {
    const { answer, next } = answeringOnDemand();
    const server = keep(await startRawServer(answer));
    const post = build({ connectionsPerOrigin: 1 });
    let isWanted = true;

    const first = post(server.url, { body: 'first' });
    const second = post(server.url, { body: 'second', isWanted: () => isWanted });
    const third = post(server.url, { body: 'third', isWanted: () => true });
    await until(() => server.requests.length === 1);
    isWanted = false;
    next();
    expect(await second).toEqual({ type: 'aborted' });
    await until(() => server.requests.length === 2);
    next();

    expect(await Promise.all([first, third])).toMatchObject([{ statusCode: 200 }, { statusCode: 200 }]);
    expect(server.requests.map((request) => request.slice(-5))).toEqual(['first', 'third']);
    expect(server.connections).toHaveLength(1);
  });

  it('are not used by a post that is not wanted any more when its own has opened, but by a later one', async () => {
    const server = keep(await startRawServer(answerOk));
    const post = build();
    let isWanted = true;

    const unwanted = post(server.url, { isWanted: () => isWanted });
    isWanted = false;
    expect(await unwanted).toEqual({ type: 'aborted' });
    expect(server.requests).toEqual([]);

    expect(await post(server.url)).toMatchObject({ statusCode: 200 });
  });

  it('are not used by a post whose deadline passes before it gets one', async () => {
    const { answer, next } = answeringOnDemand();
    const server = keep(await startRawServer(answer));
    const post = build({ connectionsPerOrigin: 1 });

    const first = post(server.url, { body: 'first' });
    const second = post(server.url, { body: 'second', deadlineMs: 40 });
    const third = post(server.url, { body: 'third' });

    expect(await second).toMatchObject({ errorCode: 'timeout' });
    await until(() => server.requests.length === 1);
    next();
    expect(await first).toMatchObject({ statusCode: 200 });
    await until(() => server.requests.length === 2);
    next();
    expect(await third).toMatchObject({ statusCode: 200 });
    expect(server.requests.some((request) => request.endsWith('second'))).toBe(false);
  });

  it('are replaced for waiting posts when those in use close', async () => {
    const server = keep(await startRawServer((socket) => socket.end('HTTP/1.1 200 OK\r\n\r\nok')));
    const post = build({ connectionsPerOrigin: 2 });

    const results = await Promise.all(Array.from({ length: 7 }, () => post(server.url)));

    expect(results.map((result) => result.type === 'response' && !result.truncated)).not.toContain(false);
    expect(server.connections).toHaveLength(7);
  });

  it('are kept while one of them is in use, even when the others close and idle origins are not kept', async () => {
    const server = keep(
      await startRawServer((socket, number) => {
        setTimeout(() => socket.write(OK), number === 1 ? 5 : 80);
        if (number === 1) setTimeout(() => socket.end(), 30);
      }),
    );
    const post = build({ maxIdleOrigins: 0 });

    const results = await Promise.all([post(server.url), post(server.url)]);

    expect(results.map((result) => result.type)).toEqual(['response', 'response']);
  });

  it('carry one request at a time', async () => {
    let inFlight = 0;
    let most = 0;
    const server = keep(
      await startRawServer((socket) => {
        inFlight += 1;
        most = Math.max(most, inFlight);
        setTimeout(() => {
          inFlight -= 1;
          socket.write(OK);
        }, 2);
      }),
    );
    const post = build({ connectionsPerOrigin: 1 });

    await Promise.all(Array.from({ length: 10 }, () => post(server.url)));

    expect([most, server.requests.length, server.connections.length]).toEqual([1, 10, 1]);
  });
});

/** A client whose names are all at 127.0.0.1. */
function buildByName(options: Partial<EgressClientOptions> = {}) {
  return build({ lookup: () => Promise.resolve([{ address: '127.0.0.1', family: 4 }]), ...options });
}

describe('connections to a new origin', () => {
  it('are opened a few at a time, twice as many per round', async () => {
    const { answer, next } = answeringOnDemand();
    const server = keep(await startRawServer(answer));
    const waiting: (() => void)[] = [];
    // One lookup serves all connections that are opened while it is pending: a round.
    const lookup = () =>
      new Promise<{ address: string; family: number }[]>((resolve) => {
        waiting.push(() => {
          resolve([{ address: '127.0.0.1', family: 4 }]);
        });
      });
    const post = build({ lookup });
    const posts = Array.from({ length: 40 }, () =>
      post(`http://cold.example:${String(server.port)}/`, { deadlineMs: 9_000 }),
    );

    for (const opened of [4, 12, 28, 40]) {
      await until(() => waiting.length === 1);
      waiting.shift()?.();
      await until(() => server.connections.length === opened);
      await afterMs(30);
      expect(server.connections).toHaveLength(opened);
    }

    await until(() => server.requests.length === 40);
    for (let count = 0; count < 40; count += 1) next();
    expect(new Set((await Promise.all(posts)).map(({ type }) => type))).toEqual(new Set(['response']));
  });

  it('are found by a healthy origin when forty silent ones use up the sockets', async () => {
    const silent = keep(await startRawServer(() => undefined));
    const healthy = keep(await startRawServer(answerOk));
    const post = buildByName({ maxSockets: 400 });
    void Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        Array.from({ length: 20 }, () =>
          post(`http://silent-${String(index)}.example:${String(silent.port)}/`, { deadlineMs: 4_000 }),
        ),
      ).flat(),
    );
    await until(() => silent.openConnections() > 250);

    for (let count = 0; count < 10; count += 1) {
      // A request that waited for the silent ones would have to wait for a deadline of theirs.
      const result = await post(`http://healthy.example:${String(healthy.port)}/`, { deadlineMs: 3_000 });
      expect(result).toMatchObject({ statusCode: 200 });
    }
    expect(silent.openConnections()).toBeLessThan(400);
  });

  it('replace the idle connections of other origins when there is no room', async () => {
    const server = keep(await startRawServer(answerOk));
    const post = buildByName({ maxSockets: 4 });

    for (let index = 0; index < 12; index += 1) {
      const url = `http://origin-${String(index)}.example:${String(server.port)}/`;
      expect(await post(url, { deadlineMs: 1_000 })).toMatchObject({ statusCode: 200 });
    }

    await until(() => server.openConnections() <= 4);
    expect(server.connections).toHaveLength(12);
  });

  it('stay open for their origins while one that is over its share asks for more, and others are unused', async () => {
    const { silent, kept, post, urlOf } = await besideSilentOnes({ maxSockets: 40 });
    for (let index = 0; index < 6; index += 1) await post(urlOf(index, kept));

    void Promise.all(Array.from({ length: 20 }, () => post(urlOf(6, silent))));
    // A quarter of the 24 that are not reserved, when it has them.
    await until(() => silent.openConnections() === 5);
    await holdsFor(100, () => kept.openConnections() === 6);
  });

  it('of idle origins go when few are unused, but the last ones only to origins that have next to none', async () => {
    const { silent, kept, post, urlOf } = await besideSilentOnes({ maxSockets: 12 });
    const two = (index: number) => Promise.all([post(urlOf(index, kept)), post(urlOf(index, kept))]);
    for (let index = 0; index < 4; index += 1) await two(index);
    expect(kept.openConnections()).toBe(8);

    const three = (index: number) => void Promise.all([1, 2, 3].map(() => post(urlOf(index, silent))));
    [4, 5].forEach(three);
    await until(() => silent.openConnections() === 4);
    await holdsFor(100, () => kept.openConnections() === 8);
    [6, 7].forEach(three);
    // One server may learn of a new connection before the other learns of the closed one.
    await until(() => silent.openConnections() === 8 && kept.openConnections() === 4);
    await holdsFor(100, () => kept.openConnections() === 4);
    expect(await Promise.all([0, 1, 2, 3].map((index) => post(urlOf(index, kept))))).toMatchObject(
      Array.from({ length: 4 }, () => ({ statusCode: 200 })),
    );
    expect(kept.connections).toHaveLength(8);

    expect(await post(urlOf(8, kept))).toMatchObject({ statusCode: 200 });
    await until(() => kept.openConnections() === 4);
  });

  it('that are idle give way to an origin below its share, one for each that it opens', async () => {
    const { silent, kept, post, urlOf } = await besideSilentOnes({ maxSockets: 40 });
    for (let index = 0; index < 14; index += 1) await Promise.all([1, 2].map(() => post(urlOf(index, kept))));
    expect(kept.openConnections()).toBe(28);

    void Promise.all(Array.from({ length: 20 }, () => post(urlOf(14, silent))));
    // 12 are unused, of which 10 are reserved, and 14 spare: of these 16 a quarter is 4, and 3 when it has four of them.
    await until(() => silent.openConnections() === 4 && kept.openConnections() === 26);
    await holdsFor(100, () => silent.openConnections() === 4 && kept.openConnections() === 26);
  });

  it('carry a request again whose own was closed, as often as one is, when there is no room for a new one', async () => {
    const { silent, kept, post, urlOf, closeNext } = await besideSilentOnes({ maxSockets: 24 });
    await Promise.all([1, 2, 3, 4].map(() => post(urlOf(0, kept))));
    for (let index = 1; index <= 6; index += 1) void Promise.all([1, 2, 3].map(() => post(urlOf(index, silent))));
    await until(() => silent.openConnections() === 15);
    expect(kept.openConnections()).toBe(4);

    closeNext(2);
    expect(await post(urlOf(0, kept))).toMatchObject({ statusCode: 200 });
    expect([kept.requests.length, kept.connections.length]).toEqual([7, 4]);
  });
});

/** A server that keeps its connections, and one that never answers; both have many names. */
async function besideSilentOnes(options: Partial<EgressClientOptions>) {
  let closing = 0;
  const answer: Answer = (socket) => {
    if (closing > 0) socket.end();
    else setTimeout(() => socket.write(OK), 20);
    closing = Math.max(0, closing - 1);
  };
  const kept = keep(await startRawServer(answer));
  const silent = keep(await startRawServer(() => undefined));
  // A clock that stands still: no connection expires, however slow the machine is.
  const client = buildByName({ ...options, monotonicMs: () => 0 });
  return {
    kept,
    silent,
    post: (url: string) => client(url, { deadlineMs: 3_000 }),
    urlOf: (index: number, { port }: RawServer) => `http://origin-${String(index)}.example:${String(port)}/`,
    closeNext: (requests: number) => {
      closing = requests;
    },
  };
}

/** Sockets of both sides, including those being opened, and those that earlier tests of this thread have left to time out. */
function openSockets(): number {
  return process.getActiveResourcesInfo().filter((name) => /SocketWrap|TLSWrap|ConnectWrap|ReqWrap/.test(name)).length;
}

describe('a client that calls endpoints of all kinds for long (R-26)', () => {
  const MAX_SOCKETS = 6;

  it('takes back each socket and leaves nothing open', async () => {
    const before = openSockets();
    const certificate = makeSelfSigned('DNS:localhost,IP:127.0.0.1');
    const at = async (answer: Answer, tls?: typeof certificate) => keep(await startRawServer(answer, tls)).url;
    const stopped = await startRawServer(answerOk);
    await stopped.stop();
    const healthy = await at(answerOk);
    const noTls = keep(await startConnectionServer((socket) => socket.resume().end('no TLS'), { scheme: 'https' }));
    const urls = await Promise.all([
      ...[at((socket) => socket.resetAndDestroy()), at((socket) => socket.end()), at(() => undefined)],
      ...[at((socket) => socket.write(HEAD)), at((socket) => socket.write('no HTTP')), at(answerOk, certificate)],
      ...[at((socket) => socket.end(OK)), at(() => undefined, certificate)],
    ]);
    urls.push(stopped.url, noTls.url, 'http://unknown.example/', healthy, healthy);
    const lookup = () => Promise.reject(Object.assign(new Error('unknown'), { code: 'ENOTFOUND' }));
    const post = build({ maxSockets: MAX_SOCKETS, trustedCa: certificate.cert, keepAliveMs: 0, lookup });

    for (let round = 0; round < MAX_SOCKETS; round += 1) {
      for (const url of urls)
        await Promise.all([post(url, { deadlineMs: 20 }), post(url, { signal: AbortSignal.timeout(10) })]);
    }

    // A kind of endpoint at which a socket is lost in each round would leave none.
    expect(await post(healthy)).toMatchObject({ statusCode: 200 });
    await until(() => {
      expect(openSockets()).toBeLessThanOrEqual(before);
    });
  });
});
