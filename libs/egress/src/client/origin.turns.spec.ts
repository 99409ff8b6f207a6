import { EventEmitter, once } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { until } from '../../../../test/support/until.js';
import { closedAfterEach, lookupAnswering } from '../testing/opened.js';
import type { LookUpPlaces } from './checked-connector.js';
import type { EgressClientOptions } from './egress-client.js';

const { build, serve } = closedAfterEach();

describe('connections whose lookup waits for its turn (R-26)', () => {
  /** Lookups of all fleets but one wait for `turns`. */
  async function besideWaiting(options: Partial<EgressClientOptions> = {}) {
    const { port } = await serve((socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'));
    const turns: (() => void)[] = [];
    const lookUps: LookUpPlaces = {
      during: async (owner, _host, work) => {
        if (owner.fleetId !== 'other') await new Promise<void>((turn) => turns.push(turn));
        return work();
      },
    };
    const post = build({ lookup: lookupAnswering(['127.0.0.1']), lookUps, connectTimeoutMs: 60_000, ...options });
    const postOf = (owner: string, deadlineMs = 4_000) =>
      post(`http://shared.example:${String(port)}/`, { owner: { id: owner, fleetId: owner }, deadlineMs });
    return { turns, postOf };
  }

  it('do not delay those of other fleets, though they are enough to fill the origin', async () => {
    const { turns, postOf } = await besideWaiting({ connectionsPerOrigin: 128 });
    for (let index = 0; index < 200; index += 1) void postOf(`late-${String(index % 100)}`);

    expect(await postOf('other')).toMatchObject({ statusCode: 200 });
    expect(turns).toHaveLength(100);
  });

  it('are named by the posts that they were too late for', async () => {
    const { postOf } = await besideWaiting();

    const detail = 'the host was not looked up in time, because too many other lookups are not answered';
    const late = { type: 'error', errorCode: 'timeout', detail, isUnsent: true };
    expect(await Promise.all([postOf('late', 50), postOf('late', 50)])).toEqual([late, late]);
  });

  it('that are given up before their turn leave it to the next one of their fleet', async () => {
    const { turns, postOf } = await besideWaiting({ connectTimeoutMs: 1_000 });
    expect(await postOf('late')).toMatchObject({ errorCode: 'timeout', isUnsent: true });

    const next = postOf('late');
    await until(() => turns.length === 2);
    turns[1]?.();

    expect(await next).toMatchObject({ statusCode: 200 });
  });

  it('are opened one after the other as their turns come', async () => {
    const answer = new EventEmitter();
    const lookup = async () => {
      await once(answer, 'answered');
      return [{ address: '127.0.0.1', family: 4 }];
    };
    const { turns, postOf } = await besideWaiting({ lookup });
    const posts = [1, 2, 3].map(() => postOf('late'));

    for (const turn of [1, 2, 3]) {
      await until(() => turns.length === turn);
      turns.at(-1)?.();
    }
    answer.emit('answered');
    expect(await Promise.all(posts)).toMatchObject(posts.map(() => ({ statusCode: 200 })));
  });
});
