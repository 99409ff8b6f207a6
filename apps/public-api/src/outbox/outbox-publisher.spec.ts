import { afterEach, describe, expect, it } from '@jest/globals';
import type { OpenOutboxSessionResult, OutboxRow } from '@waypost/management-store';
import type { OutgoingRecord } from '@waypost/streams';
import { until } from '../../../../test/support/until.js';
import { createOutboxPublisher, type OutboxPublisher } from './outbox-publisher.js';
import type { PublishedVersion } from './published-versions.js';

function ignore(): void {
  // Silent.
}
const silent = { debug: ignore, info: ignore, warn: ignore, error: ignore };

type Fault = 'none' | 'commit_fails' | 'commit_succeeds_but_rejects' | 'mark_fails' | 'encode_prepare_fails';

/** The table, the topics and the lock, shared by any number of publishers. */
function buildWorld() {
  const rows: (OutboxRow & { published: boolean })[] = [];
  const log: { kind: string; key: string; version: number | null }[] = [];
  const faults: Fault[] = [];
  /** The time before which each trim deletes. */
  const trims: number[] = [];
  /** How long it waits after each failure. */
  const waitsMs: unknown[] = [];
  const clock = { nowMs: Date.UTC(2026, 2, 20, 12) };
  let holder: symbol | null = null;
  let lose: ((error: Error) => void) | null = null;
  const wakers = new Set<() => void>();
  const publishers: OutboxPublisher[] = [];
  const nextFault = (at: Fault): boolean => faults[0] === at && faults.shift() !== undefined;

  function append(key: string, version: number | null): void {
    const value = version === null ? null : { version };
    const id = String(rows.length + 1);
    rows.push({ id, kind: 'webhook-subscription', key, partitionKey: null, value, published: false });
    for (const wake of wakers) wake();
  }

  function openSession(
    me: symbol,
    on: { onAppended: () => void; onLost: (error: Error) => void },
  ): OpenOutboxSessionResult {
    if (holder !== null) return { type: 'busy' };
    holder = me;
    let alive = true;
    wakers.add(on.onAppended);
    lose = (error) => {
      alive = false;
      holder = null;
      on.onLost(error);
    };
    const whileAlive = <T>(value: T): Promise<T> =>
      alive ? Promise.resolve(value) : Promise.reject(new Error('connection lost'));
    return {
      type: 'held',
      session: {
        readWaiting: (limit) => whileAlive(rows.filter((row) => !row.published).slice(0, limit)),
        markPublished: (ids) => {
          if (!alive || nextFault('mark_fails')) return Promise.reject(new Error('mark failed'));
          for (const row of rows) if (ids.includes(row.id)) row.published = true;
          return Promise.resolve();
        },
        trim: (beforeMs) => whileAlive(trims.push(beforeMs)),
        close: () => {
          if (holder === me) holder = null;
          wakers.delete(on.onAppended);
          return Promise.resolve();
        },
      },
    };
  }

  function commit(records: readonly OutgoingRecord[]): Promise<void> {
    if (nextFault('commit_fails')) return Promise.reject(new Error('fenced'));
    for (const { key, value } of records) {
      const version = value === null ? null : (JSON.parse(value.toString()) as { version: number }).version;
      log.push({ kind: 'webhook-subscription', key: key?.toString() ?? '', version });
    }
    return nextFault('commit_succeeds_but_rejects') ? Promise.reject(new Error('timed out')) : Promise.resolve();
  }

  function startPublisher(): OutboxPublisher {
    const me = Symbol('publisher');
    const publisher = createOutboxPublisher({
      openSession: (on) => Promise.resolve(openSession(me, on)),
      createProducer: () => {
        let dead = false;
        return {
          init: () => Promise.resolve(),
          commit: async ({ records }) => {
            if (dead) throw new Error('a failed producer was used again');
            dead = true;
            await commit(records);
            dead = false;
          },
          close: () => Promise.resolve(),
        };
      },
      encode: ({ key, value }) => ({
        topic: 't',
        partition: 0,
        key: Buffer.from(key),
        value: value === null ? null : Buffer.from(JSON.stringify(value)),
      }),
      prepare: () =>
        nextFault('encode_prepare_fails') ? Promise.reject(new Error('registry away')) : Promise.resolve(),
      readPublishedVersions: () =>
        Promise.resolve(
          new Map<string, PublishedVersion>(
            log.map(({ key, version }) => [
              `webhook-subscription/${key}`,
              version === null ? { type: 'deleted' } : { type: 'version', version },
            ]),
          ),
        ),
      logger: { ...silent, warn: (_, fields) => void waitsMs.push(fields?.['retryInMs']) },
      nowMs: () => clock.nowMs,
      monotonicMs: () => performance.now(),
      pollMs: 5,
    });
    publishers.push(publisher);
    publisher.start();
    return publisher;
  }

  const published = () => log.map(({ key, version }) => `${key}:${String(version)}`);
  const settled = (count: number): Promise<void> =>
    until(() => {
      if (log.length < count || rows.some((row) => !row.published))
        throw new Error(`published only ${published().join(', ')}`);
    });
  return {
    append,
    faults,
    trims,
    waitsMs,
    clock,
    startPublisher,
    published,
    settled,
    loseConnection: () => lose?.(new Error('connection lost')),
    holder: () => holder,
    stopAll: () => Promise.all(publishers.map((publisher) => publisher.stop())),
  };
}

let world: ReturnType<typeof buildWorld>;
afterEach(async () => {
  await world.stopAll();
});

describe('the outbox publisher', () => {
  it('publishes what waits in order, and then what comes', async () => {
    world = buildWorld();
    world.append('a', 1);
    world.append('b', 1);
    world.startPublisher();
    await world.settled(2);
    world.append('a', 2);
    world.append('a', null);
    await world.settled(4);
    expect(world.published()).toEqual(['a:1', 'b:1', 'a:2', 'a:null']);
  });

  it.each<[string, Fault[]]>([
    ['the commit fails', ['commit_fails']],
    ['the commit fails many times', ['commit_fails', 'commit_fails', 'commit_fails']],
    ['the answer to a commit that took effect is lost', ['commit_succeeds_but_rejects']],
    ['the mark fails after the commit', ['mark_fails']],
    ['the registry is away', ['encode_prepare_fails', 'commit_fails']],
  ])('publishes each version exactly once though %s', async (_, faults) => {
    world = buildWorld();
    world.faults.push(...faults);
    world.append('a', 1);
    world.append('a', 2);
    world.append('b', 1);
    world.append('b', null);
    world.startPublisher();
    await world.settled(4);
    world.append('c', 1);
    await world.settled(5);
    expect(world.published()).toEqual(['a:1', 'a:2', 'b:1', 'b:null', 'c:1']);
  });

  it('waits longer after each failure in a row, and no longer than at first once it has published', async () => {
    world = buildWorld();
    world.faults.push('commit_fails', 'commit_fails');
    world.append('a', 1);
    world.startPublisher();
    await world.settled(1);
    world.faults.push('commit_fails');
    world.append('a', 2);
    await world.settled(2);
    expect(world.waitsMs).toEqual([200, 400, 200]);
  });

  it('continues on a new connection when it loses its own', async () => {
    world = buildWorld();
    world.startPublisher();
    world.append('a', 1);
    await world.settled(1);
    world.loseConnection();
    world.append('a', 2);
    await world.settled(2);
    expect(world.published()).toEqual(['a:1', 'a:2']);
  });

  it('leaves the work to one of several, and another takes over when that one stops', async () => {
    world = buildWorld();
    const first = world.startPublisher();
    world.startPublisher();
    world.append('a', 1);
    await world.settled(1);
    await first.stop();
    world.append('a', 2);
    await world.settled(2);
    expect(world.published()).toEqual(['a:1', 'a:2']);
  });

  it('lets go of the lock when it stops', async () => {
    world = buildWorld();
    const publisher = world.startPublisher();
    world.append('a', 1);
    await world.settled(1);
    await publisher.stop();
    expect(publisher.isStopped()).toBe(true);
    expect(world.holder()).toBeNull();
  });

  it('publishes more than one batch', async () => {
    world = buildWorld();
    for (let version = 1; version <= 1_203; version++) world.append('a', version);
    world.startPublisher();
    await world.settled(1_203);
    expect(world.published()).toEqual(Array.from({ length: 1_203 }, (_, index) => `a:${String(index + 1)}`));
  });
  it('deletes once an hour what was published a day ago', async () => {
    world = buildWorld();
    const HOUR_MS = 3_600_000;
    const startMs = world.clock.nowMs;
    const trimmedAt = (...afterMs: number[]) => afterMs.map((ms) => startMs + ms - 24 * HOUR_MS);
    world.startPublisher();
    await until(() => {
      expect(world.trims).toEqual(trimmedAt(0));
    });
    world.clock.nowMs = startMs + HOUR_MS - 1;
    world.append('a', 1);
    world.append('a', 2);
    await world.settled(2);
    world.clock.nowMs = startMs + HOUR_MS;
    await until(() => {
      expect(world.trims).toEqual(trimmedAt(0, HOUR_MS));
    });
  });
});
