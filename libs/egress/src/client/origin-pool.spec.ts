import { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type AbortGroup, createAbortGroup } from './abort-group.js';
import type { CheckedConnect } from './checked-connector.js';
import type { EgressResult } from './egress-result.js';
import { Exchange } from './exchange.js';
import { OriginPool } from './origin-pool.js';

type ConnectCallback = Parameters<CheckedConnect>[1];

/** A pool whose connections fail on demand. */
function build({ maxConnections = 1, maxSockets = 1_000 } = {}) {
  const connecting: ConnectCallback[] = [];
  const fail = (callback: ConnectCallback | undefined) => callback?.(new Error('no test connects'), null);
  const origins = new OriginPool({
    connect: (_target, callback) => connecting.push(callback),
    maxConnections,
    maxIdleOrigins: 2,
    maxSockets,
    keepAliveMs: 1_000,
    maxAgeMs: 1_000,
    maxHeadBytes: 16_384,
    monotonicMs: () => 0,
  });
  return {
    origins,
    connecting: () => connecting.length,
    open: (socket: Socket) => connecting.shift()?.(null, socket),
    failOldest: () => fail(connecting.shift()),
    failAll: () => {
      connecting.splice(0).forEach(fail);
    },
  };
}

function targetAt(name: string) {
  return {
    origin: `https://${name}.example`,
    protocol: 'https:',
    hostname: `${name}.example`,
    port: '',
  };
}

function exchange(resolve: (result: EgressResult) => void, deadlineMs = 1_000, group?: AbortGroup): Exchange {
  const limits = { maxBodyBytes: 0, keepBody: false };
  return new Exchange(
    { head: '', body: Buffer.alloc(0), deadlineMs, limits, signal: undefined, group, isWanted: undefined },
    resolve,
  );
}

function post(origins: OriginPool, name: string, deadlineMs?: number): Promise<EgressResult> {
  return new Promise((resolve) => {
    origins.of(targetAt(name)).submit(exchange(resolve, deadlineMs));
  });
}

/** Takes what is written, and never answers. */
function openedSocket(): Socket {
  const stream = new Duplex({ read: () => undefined, write: (_chunk, _encoding, done) => done() });
  return Object.assign(stream, { unref: () => undefined }) as unknown as Socket;
}

function nextIteration() {
  return new Promise((resolve) => setImmediate(resolve));
}

describe('OriginPool', () => {
  it('gives the same origin while it is known', async () => {
    const { origins, failAll } = build();
    const first = origins.of(targetAt('a'));
    const settled = Promise.all([post(origins, 'a'), post(origins, 'a')]);
    for (let turns = 0; turns < 3; turns += 1) {
      await nextIteration();
      failAll();
    }
    await settled;

    expect(origins.of(targetAt('a'))).toBe(first);
    await origins.close(new Error('over'));
  });

  it('keeps connections with a client certificate apart, but not those of http, which shows none (R-19)', async () => {
    const { origins } = build();
    const [one, other] = ['1', '2'].map((id) => ({ id, certificates: '', privateKey: '' }));
    const places = [undefined, one, other].map((identity) => origins.of(targetAt('a'), identity));
    expect(new Set(places).size).toBe(3);
    expect(origins.of(targetAt('a'), one)).toBe(places[1]);
    const plain = { ...targetAt('a'), protocol: 'http:', origin: 'http://a.example' };
    expect(origins.of(plain, one)).toBe(origins.of(plain));
    await origins.close(new Error('over'));
  });

  it('keeps only the most recently used idle origins', async () => {
    const { origins, failAll } = build();
    const originOfA = origins.of(targetAt('a'));
    for (const name of ['a', 'b', 'c', 'd', 'e']) {
      const settled = post(origins, name);
      await nextIteration();
      failAll();
      await settled;
    }

    expect(origins.size).toBe(2);
    expect(origins.of(targetAt('a'))).not.toBe(originOfA);
    await origins.close(new Error('over'));
  });

  it('keeps every origin with a post in flight', async () => {
    const { origins, failAll } = build();
    const settled = ['a', 'b', 'c', 'd'].map((name) => post(origins, name));
    await nextIteration();

    expect(origins.size).toBe(4);
    failAll();
    await Promise.all(settled);
    expect(origins.size).toBe(2);
    await origins.close(new Error('over'));
  });

  it('keeps an origin that was idle and is in use again, while others become idle', async () => {
    const { origins, failOldest, failAll } = build();
    const first = post(origins, 'a');
    await nextIteration();
    failAll();
    await first;
    const again = post(origins, 'a', 60_000);
    await nextIteration();

    for (const name of ['b', 'c', 'd']) await post(origins, name, 20);
    failOldest();

    expect(await again).toMatchObject({ detail: 'no test connects' });
    await origins.close(new Error('over'));
    failAll();
  });

  it('closes a connection that opens only after its origin has been dropped', async () => {
    const { origins, open, failAll } = build();
    await post(origins, 'a', 20);
    for (const name of ['b', 'c', 'd']) {
      const settled = post(origins, name, 20);
      await nextIteration();
      await settled;
    }
    const socket = new Socket();
    open(socket);

    expect(socket.destroyed).toBe(true);
    failAll();
    await origins.close(new Error('over'));
  });

  it('fails waiting posts when it is closed, and opens no more connections', async () => {
    const { origins, failAll } = build();
    const settled = [post(origins, 'a'), post(origins, 'a')];
    const origin = origins.of(targetAt('a'));
    await nextIteration();

    await origins.close(new Error('the client is closed'));
    failAll();

    const closed = { type: 'error', errorCode: 'network_error', detail: 'the client is closed', isUnsent: true };
    expect(await Promise.all(settled)).toEqual([closed, closed]);
    const late = new Promise((resolve) => {
      origin.submit(exchange(resolve));
    });
    expect(await late).toEqual(closed);
  });

  it('fails a post only when the connection that was opened for it fails', async () => {
    const { origins, connecting, failOldest } = build({ maxConnections: 2 });
    const first = await post(origins, 'a', 20);
    let isSettled = false;
    const second = post(origins, 'a').finally(() => (isSettled = true));
    await nextIteration();
    expect([first.type === 'error' && first.errorCode, connecting()]).toEqual(['timeout', 2]);

    failOldest();
    await nextIteration();
    expect([isSettled, connecting()]).toEqual([false, 1]);

    failOldest();
    expect(await second).toMatchObject({ detail: 'no test connects' });
    await origins.close(new Error('over'));
  });

  it('opens connections for waiting posts as soon as the limit allows', async () => {
    const { origins, connecting, failOldest } = build({ maxConnections: 2 });
    const posts = [1, 2, 3].map(() => post(origins, 'a'));
    await nextIteration();
    expect(connecting()).toBe(2);

    failOldest();
    expect(await posts[0]).toMatchObject({ detail: 'no test connects' });
    await nextIteration();
    expect(connecting()).toBe(2);

    await origins.close(new Error('over'));
    await Promise.all(posts);
  });

  it('opens few connections again after a failure without any other: the server has perhaps just started', async () => {
    const { origins, connecting, failAll } = build({ maxConnections: 100 });
    const posts = Array.from({ length: 20 }, () => post(origins, 'a', 60_000));
    await nextIteration();
    expect(connecting()).toBe(4);
    origins.of(targetAt('a')).sweep();
    await nextIteration();
    expect(connecting()).toBe(8);

    failAll();
    await nextIteration();
    expect(connecting()).toBe(4);

    await origins.close(new Error('over'));
    failAll();
    await Promise.all(posts);
  });

  it('opens none for a post that has ended before it could be sent again (R-21)', async () => {
    const { origins, connecting } = build();
    const result = new Promise((resolve) => {
      const again = exchange(resolve);
      origins.of(targetAt('a')).onStale(again);
      again.abort();
    });
    await nextIteration();

    expect(await result).toEqual({ type: 'aborted' });
    expect(connecting()).toBe(0);
    await origins.close(new Error('over'));
  });

  it('aborts the posts of a group that wait to be sent again, and opens none for them (R-25)', async () => {
    const { origins, connecting } = build();
    const group = createAbortGroup();
    const result = new Promise((resolve) => {
      origins.of(targetAt('a')).onStale(exchange(resolve, 1_000, group));
    });
    origins.abort(group);
    await nextIteration();

    expect(connecting()).toBe(0);
    expect(await result).toEqual({ type: 'aborted' });
    await origins.close(new Error('over'));
  });

  it('shares the sockets of the process among the origins that want more, and leaves some to others', async () => {
    const { origins, connecting, failAll } = build({ maxConnections: 100, maxSockets: 24 });
    const posts = ['a', 'b', 'c', 'd'].flatMap((name) => Array.from({ length: 20 }, () => post(origins, name, 400)));
    await nextIteration();
    // 4, 3 and 3 of the 18 that are not reserved, then at least 2.
    expect(connecting()).toBe(12);

    posts.push(post(origins, 'e', 400));
    await nextIteration();
    expect(connecting()).toBe(13);

    failAll();
    await nextIteration();
    expect(connecting()).toBeGreaterThan(8);
    await origins.close(new Error('over'));
    failAll();
    await Promise.all(posts);
  });

  it.each([
    ['have closed', 4, (socket: Socket) => socket.destroy()],
    ['carry a request again', 3, () => undefined],
  ])('spares no idle connections for others that %s', async (_case, share, then) => {
    const { origins, connecting, open, failAll } = build({ maxConnections: 100, maxSockets: 24 });
    const ended = Array.from({ length: 4 }, () => post(origins, 'a', 20));
    await nextIteration();
    await Promise.all(ended);
    const sockets = Array.from({ length: 4 }, () => openedSocket());
    for (const socket of sockets) open(socket);
    const posts = share === 3 ? sockets.map(() => post(origins, 'a', 60_000)) : [];
    sockets.forEach(then);
    await nextIteration();

    posts.push(...Array.from({ length: 20 }, () => post(origins, 'b', 60_000)));
    await nextIteration();
    origins.of(targetAt('b')).sweep();
    await nextIteration();

    // A quarter of what is unused, beyond the reserved part.
    expect(connecting()).toBe(share);
    await origins.close(new Error('over'));
    failAll();
    await Promise.all(posts);
  });

  it('has a socket for each post while all want half of the sockets and each origin a sixteenth, at most', async () => {
    const maxSockets = 512;
    const wanted = fc.array(fc.integer({ min: 1, max: maxSockets / 16 }), { minLength: 1, maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(wanted, async (wants) => {
        const { origins, connecting, failAll } = build({ maxConnections: maxSockets, maxSockets });
        const posts: Promise<EgressResult>[] = [];
        wants.forEach((count, i) => {
          const isWithin = posts.length + count <= maxSockets / 2;
          for (let n = 0; isWithin && n < count; n++) posts.push(post(origins, String(i), 60_000));
        });
        // Each sweep doubles the number that an origin may open at a time.
        for (let sweeps = 0; sweeps < 5; sweeps++) {
          await nextIteration();
          for (const i of wants.keys()) origins.of(targetAt(String(i))).sweep();
        }
        await nextIteration();
        expect(connecting()).toBe(posts.length);
        await origins.close(new Error('over'));
        failAll();
        await Promise.all(posts);
      }),
      { numRuns: 50 },
    );
  });
});
