import { describe, expect, it } from '@jest/globals';
import { flushed, until } from '../../../../test/support/until.js';
import { closedAfterEach } from '../testing/opened.js';
import { type RawServer, startRawServer } from '../testing/raw-server.js';
import { type AbortGroup, createAbortGroup } from './abort-group.js';

const { keep, openClient } = closedAfterEach();

/** The server answers all requests but the first ones. */
async function build({ connectionsPerOrigin = 256, unanswered = 2 } = {}) {
  const server = await startRawServer((socket, number) => {
    if (number > unanswered) socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
  });
  keep(server);
  const client = openClient({ connectionsPerOrigin });
  const post = (abortGroup: AbortGroup, deadlineMs = 2_000) =>
    client.post({ url: server.url, headers: {}, body: '{}', deadlineMs, abortGroup });
  return { server, post };
}

function requestsAt(server: RawServer, count: number): Promise<void> {
  return until(() => {
    expect(server.requests.length).toBeGreaterThanOrEqual(count);
  });
}

describe('an aborted group of posts', () => {
  it('aborts only its posts in flight and closes their sockets', async () => {
    const { server, post } = await build();
    const [given, kept] = [createAbortGroup(), createAbortGroup()];
    const posts = [post(given), post(kept, 100)];
    await requestsAt(server, 2);

    given.abort();

    expect(await posts[0]).toEqual({ type: 'aborted' });
    expect(await posts[1]).toMatchObject({ errorCode: 'timeout' });
    expect(server.openConnections()).toBeLessThanOrEqual(1);
  });

  it('has its waiting posts aborted, which are never sent', async () => {
    const { server, post } = await build({ connectionsPerOrigin: 1 });
    const [given, kept] = [createAbortGroup(), createAbortGroup()];
    const first = post(kept, 500);
    const waiting = [post(given), post(given)];
    const keptWaiting = post(kept, 1_000);
    await requestsAt(server, 1);

    given.abort();

    expect(await Promise.all(waiting)).toEqual([{ type: 'aborted' }, { type: 'aborted' }]);
    expect(await first).toMatchObject({ errorCode: 'timeout' });
    expect(await keptWaiting).toMatchObject({ errorCode: 'timeout' });
    expect(server.requests).toHaveLength(2);
  });

  it('sends nothing more', async () => {
    const { server, post } = await build();
    const given = createAbortGroup();

    given.abort();

    expect(given.aborted).toBe(true);
    expect(await post(given)).toEqual({ type: 'aborted' });
    expect(server.connections).toHaveLength(0);
  });

  it('does not touch posts that already have their response: their connection serves the next post', async () => {
    const { server, post } = await build({ unanswered: 0 });
    const [given, other] = [createAbortGroup(), createAbortGroup()];

    expect(await post(given)).toMatchObject({ statusCode: 200 });
    given.abort();
    await flushed();

    expect(await post(other)).toMatchObject({ statusCode: 200 });
    expect(server.connections).toHaveLength(1);
  });
});
