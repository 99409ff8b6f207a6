import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { createWaypostClient } from './client.js';
import { WaypostApiError } from './errors.js';
import type { StreamOptions } from './stream.js';

type Behave = (request: IncomingMessage, response: ServerResponse) => void;

const closings: (() => void)[] = [];
afterEach(() => {
  jest.useRealTimers();
  for (const close of closings.splice(0)) close();
});

/** A service that answers the n-th connection as the n-th of these, the last one again and again. */
async function build(...behaviors: Behave[]) {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    const index = Math.min(requests.push(request), behaviors.length) - 1;
    behaviors[index]?.(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closings.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const baseUrl = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  const waypost = createWaypostClient({
    baseUrl,
    apiKey: 'wp_test',
    fleetId: 'tour',
    retry: { baseDelayMs: 1, maxDelayMs: 5 },
  });
  return { baseUrl, requests, waypost };
}

function sends(...ids: string[]): Behave {
  return (_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const id of ids) response.write(`id: ${id}\nevent: attempt\ndata: {"eventId":"e${id}"}\n\n`);
    response.end();
  };
}

const breaks: Behave = (_, response) => void response.destroy();
const refuses =
  (status: number): Behave =>
  (_, response) =>
    void response.writeHead(status).end('{"error":{"code":"unauthorized","message":"No.","requestId":"r-1"}}');

/** The ids of the first events. */
async function take(
  { waypost }: Awaited<ReturnType<typeof build>>,
  count: number,
  options?: StreamOptions,
): Promise<string[]> {
  const ids: string[] = [];
  for await (const { data } of waypost.stream('streamAttempts', { eventType: ['position'] }, options)) {
    if (ids.push(data.eventId) === count) break;
  }
  return ids;
}

describe('a stream of the client (R-41)', () => {
  it('keeps a character whose bytes come in two pieces', async () => {
    const bytes = Buffer.from('id: 1\nevent: attempt\ndata: {"eventId":"Köln"}\n\n');
    const middle = bytes.indexOf('ö') + 1;
    const body = new ReadableStream<Uint8Array>({
      start(pieces) {
        for (const piece of [bytes.subarray(0, middle), bytes.subarray(middle)]) pieces.enqueue(piece);
      },
    });
    const waypost = createWaypostClient({
      baseUrl: 'https://waypost.example',
      apiKey: 'wp_test',
      fetch: () => Promise.resolve(new Response(body)),
    });
    for await (const { data } of waypost.stream('streamAttempts')) {
      expect(data.eventId).toBe('Köln');
      break;
    }
    expect.assertions(1);
  });

  it('continues after the last event when the connection is lost, with the key and the filters', async () => {
    const service = await build(sends('1', '2'), breaks, refuses(503), sends('3'));
    const states: string[] = [];
    expect(await take(service, 3, { onConnection: (state) => states.push(state) })).toEqual(['e1', 'e2', 'e3']);
    expect(service.requests.map(({ headers }) => headers['last-event-id'])).toEqual([undefined, '2', '2', '2']);
    expect(service.requests.at(-1)).toMatchObject({
      url: '/public/v2/stream?eventType=position',
      headers: { authorization: 'Bearer wp_test', 'x-waypost-fleet': 'tour', accept: 'text/event-stream' },
    });
    expect(states).toEqual(['open', 'lost', 'lost', 'lost', 'open']);
  });

  it('continues where it began when the connection is lost before the first event, and says where that is', async () => {
    const service = await build((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(': open\nid: 5\n\n');
    }, sends('6'));
    const positions: string[] = [];
    expect(await take(service, 1, { onPosition: (id) => positions.push(id) })).toEqual(['e6']);
    expect(service.requests.map(({ headers }) => headers['last-event-id'])).toEqual([undefined, '5']);
    expect(positions).toEqual(['5']);
  });

  it('says why a connection was not made: by a refusal, or not at all', async () => {
    const service = await build(refuses(429), breaks, sends('1'));
    const codes: (number | undefined)[] = [];
    await take(service, 1, { onConnection: (_, refusal) => codes.push(refusal?.status) });
    expect(codes).toEqual([429, undefined, undefined]);
  });

  it('waits longer each time for a service that opens a stream and ends it', async () => {
    const opensOnly: Behave = (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(': open\nid: 5\n\n');
    };
    const service = await build(opensOnly, opensOnly, opensOnly, refuses(429), sends('6'));
    const attempts: (number | undefined)[] = [];
    await take(service, 1, { onConnection: (_, refusal) => refusal && attempts.push(refusal.attempts) });
    expect(attempts).toEqual([4]);
  });

  it('waits no longer than its longest wait for a service that asks for more', async () => {
    const service = await build(
      (_, response) => void response.writeHead(503, { 'retry-after': '3600' }).end(),
      sends('1'),
    );
    expect(await take(service, 1)).toEqual(['e1']);
  });

  it('does not follow a redirect: the key is for the base URL alone', async () => {
    const elsewhere = await build(sends('1'));
    const service = await build(
      (_, response) => void response.writeHead(307, { location: `${elsewhere.baseUrl}/elsewhere` }).end(),
    );
    const aborting = new AbortController();
    const options = { signal: aborting.signal, onConnection: () => aborting.abort(new Error('enough')) };
    await expect(take(service, 1, options)).rejects.toThrow('enough');
    expect([service.requests.length, elsewhere.requests.length]).toEqual([1, 0]);
  });

  it('begins after the given event', async () => {
    const service = await build(sends('8'));
    expect(await take(service, 1, { lastEventId: '7' })).toEqual(['e8']);
    expect(service.requests[0]?.headers['last-event-id']).toBe('7');
  });

  it('ends with the refusal that would be the same again', async () => {
    const service = await build(refuses(401));
    await expect(take(service, 1)).rejects.toThrow(WaypostApiError);
    expect(service.requests).toHaveLength(1);
  });

  it('gives up a connection that is not made within 45 s, and makes another', async () => {
    jest.useFakeTimers();
    let isAborted = false;
    const silent = ({ signal }: RequestInit = {}): Promise<Response> =>
      new Promise((_resolve, reject) => {
        signal?.addEventListener('abort', () => {
          isAborted = true;
          reject(signal.reason as Error);
        });
      });
    const send = jest.fn<typeof fetch>((_url, init) => silent(init));
    const waypost = createWaypostClient({ baseUrl: 'http://a', apiKey: 'wp_test', fetch: send });
    const aborting = new AbortController();
    const next = waypost.stream('streamAttempts', {}, { signal: aborting.signal }).next();
    const failure = next.catch((reason: unknown) => reason);

    await jest.advanceTimersByTimeAsync(44_999);
    expect(isAborted).toBe(false);
    await jest.advanceTimersByTimeAsync(1_000);
    expect([isAborted, send.mock.calls.length]).toEqual([true, 2]);
    aborting.abort('enough');
    expect(await failure).toBe('enough');
  });

  it('gives up a connection that says nothing for 45 s, and makes another after the last event', async () => {
    jest.useFakeTimers();
    const piece = Buffer.from('id: 7\nevent: attempt\ndata: {"eventId":"e7"}\n\n');
    const send = jest.fn<typeof fetch>((_url, { signal } = {}) => {
      const body = new ReadableStream<Uint8Array>({
        start(pieces) {
          pieces.enqueue(piece);
          signal?.addEventListener('abort', () => pieces.error(signal.reason));
        },
      });
      return Promise.resolve(new Response(body));
    });
    const waypost = createWaypostClient({
      baseUrl: 'http://a',
      apiKey: 'wp_test',
      fetch: send,
      retry: { baseDelayMs: 1 },
    });
    const events = waypost.stream('streamAttempts');
    await events.next();
    const next = events.next();
    await jest.advanceTimersByTimeAsync(44_999);
    expect(send).toHaveBeenCalledTimes(1);
    await jest.advanceTimersByTimeAsync(2);
    await next;
    expect(new Headers(send.mock.calls[1]?.[1]?.headers).get('last-event-id')).toBe('7');
    await events.return();
  });

  it('lets the connection go when its reader leaves the loop', async () => {
    let isClosed: Promise<unknown> = Promise.resolve();
    const service = await build((request, response) => {
      isClosed = new Promise((resolve) => request.once('close', resolve));
      response.writeHead(200).write('id: 1\nevent: attempt\ndata: {"eventId":"e1"}\n\n');
    });
    expect(await take(service, 1)).toEqual(['e1']);
    await isClosed;
  });

  it('ends at once when onConnection aborts it, and not after the wait that follows', async () => {
    const service = await build((_, response) => void response.writeHead(503, { 'retry-after': '3600' }).end());
    const aborting = new AbortController();
    const options = { signal: aborting.signal, onConnection: () => aborting.abort(new Error('enough')) };
    await expect(take(service, 1, options)).rejects.toThrow('enough');
  });

  it('ends with the reason of its signal, also while it waits for events, and lets the connection go', async () => {
    const aborting = new AbortController();
    let isClosed: Promise<unknown> = Promise.resolve();
    const service = await build((request, response) => {
      isClosed = new Promise((resolve) => request.once('close', resolve));
      response.writeHead(200).write(': open\n\n');
      aborting.abort(new Error('enough'));
    });
    await expect(take(service, 1, { signal: aborting.signal })).rejects.toThrow('enough');
    await isClosed;
  });
});
