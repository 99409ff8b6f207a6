import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { until } from '../../../../test/support/until.js';
import type { StreamsBackend } from '../backend/backend.js';
import { readToEnd } from '../backend/log-reader.js';
import type { StreamsLogger } from '../logger.js';
import { keyValueStore } from '../state/key-value-store.js';
import { jsonSerde, type StoreDefinition } from '../state/state-store.js';
import { createMemoryBackend } from '../testing/memory-backend.js';
import { createTopology, type Topology } from '../topology/topology.js';
import { createStreamsApp, type StreamsAppOptions } from './streams-app.js';
import type { TaskManager } from './task-manager.js';
import { type Broker, Journal, Observed } from './testing/observed-restores.js';

interface Counts {
  get(key: string): number | undefined;
  put(key: string, count: number): void;
}

/** As others write stores: with a format of their own in checkpoints, and without a view from outside. */
function countsAs(version: string): StoreDefinition<Counts> {
  const { createStore, ...changelog } = keyValueStore({ changelogTopic: 'counts', serde: jsonSerde<number>() });
  const own: Readonly<Record<string | symbol, unknown>> = { checkpointFormat: version, readOnly: undefined };
  const differences: ProxyHandler<ReturnType<typeof createStore>> = {
    get: (store, name): unknown => (Object.hasOwn(own, name) ? own[name] : Reflect.get(store, name)),
  };
  return { ...changelog, createStore: () => new Proxy(createStore(), differences) };
}

/** Counts the records of each key in its store: a lost or doubled one shows in the output. */
function countingAs(version: string) {
  return createTopology({
    applicationId: 'counting',
    source: 'input',
    stores: { counts: countsAs(version) },
    sinks: { output: { topic: 'output', partitioner: 'source-partition' } },
    processor: (context) => {
      const counts = context.store('counts');
      return {
        process: ({ key }) => {
          const count = (counts.get(String(key)) ?? 0) + 1;
          counts.put(String(key), count);
          context.forward('output', { key, value: Buffer.from(`${String(key)}:${String(count)}`) });
        },
      };
    },
  });
}

const counting = countingAs('count-1');
const INPUT = { topic: 'input', partition: 0 };
const CHANGELOG = { topic: 'counts', partition: 0 };

function newBroker(): Broker {
  return createMemoryBackend({ topics: { input: 1, output: 1, counts: 1 }, now: Date.now });
}

async function start(
  backend: StreamsBackend,
  logger: StreamsLogger,
  more: Partial<StreamsAppOptions> = {},
): Promise<TaskManager> {
  const app = createStreamsApp({
    topology: counting,
    backend,
    instanceId: 'i',
    logger,
    now: Date.now,
    onFatal: (error) => {
      throw error;
    },
    ...more,
  });
  await app.start();
  await until(() => app.ready());
  return app;
}

async function outputs(backend: StreamsBackend): Promise<string[]> {
  const found: string[] = [];
  await readToEnd(backend, backend.fetcher(), { topic: 'output', partition: 0 }, 0, ({ records }) => {
    for (const { value } of records) found.push(String(value));
  });
  return found;
}

async function send(broker: Broker, ...keys: string[]): Promise<void> {
  const before = (await outputs(broker)).length;
  for (const key of keys) broker.append(INPUT, { key: Buffer.from(key), value: null });
  await until(async () => (await outputs(broker)).length === before + keys.length);
}

let observed: Observed;
let broker: Broker;
let journal: Journal;
let stateDir: string;

beforeEach(async () => {
  broker = newBroker();
  observed = new Observed(broker, CHANGELOG.topic);
  journal = new Journal();
  stateDir = await mkdtemp(join(tmpdir(), 'waypost-state-'));
});

afterEach(async () => {
  await rm(stateDir, { recursive: true });
});

async function restart(app: TaskManager, more: Partial<StreamsAppOptions> = {}): Promise<TaskManager> {
  await app.stop();
  journal = new Journal();
  observed.readsFrom.length = 0;
  return start(observed.backend, journal, more);
}

describe('a store of another kind than key-value stores', () => {
  it('is not read from outside, which neither compiles nor runs', async () => {
    const app = createStreamsApp({
      topology: counting,
      backend: observed.backend,
      logger: journal,
      now: Date.now,
      onFatal: () => undefined,
    });
    await app.start();
    await until(() => app.ready());
    // @ts-expect-error -- there is no such view
    const view = app.readOnlyStore('counts') as { get: (key: string) => unknown };
    expect(() => view.get('a')).toThrow('This store has no view for readers outside of its processor.');
    await app.stop();
  });
});

describe('a task that failed', () => {
  it.each([['before' as const], ['after' as const]])(
    'goes on from its store and the changelog after it, when a commit failed %s it took effect',
    async (failure) => {
      const app = await start(observed.backend, journal);
      await send(broker, 'a', 'a', 'b');
      const known = await broker.endOffset(CHANGELOG);
      observed.failNext = failure;
      await send(broker, 'a');
      await send(broker, 'b', 'a');
      await app.stop();
      expect(await outputs(broker)).toEqual(['a:1', 'a:2', 'b:1', 'a:3', 'b:2', 'a:4']);
      expect(journal.restored.map(({ from }) => from)).toEqual(['changelog', 'memory']);
      expect(observed.readsFrom.every((position) => position >= known - 1)).toBe(true);
    },
  );

  it('restores its store once what prepare() waits for answers again', async () => {
    const app = await start(observed.backend, journal);
    await send(broker, 'a', 'a');
    await app.stop();
    let failures = 0;
    const prepare = (): Promise<void> =>
      failures++ < 2 ? Promise.reject(new TypeError('fetch failed')) : Promise.resolve();
    const stores = { counts: { ...counting.stores?.counts, prepare } } as typeof counting.stores;
    const second = await start(observed.backend, journal, { topology: { ...counting, stores } });
    await until(() => second.tasks()[0]?.state !== 'starting');
    expect(second.tasks()[0]?.parked).toBeNull();
    await send(broker, 'a');
    await second.stop();
    expect((await outputs(broker)).at(-1)).toBe('a:3');
  });

  it('says how much of the changelog it still has to read', async () => {
    const app = await start(observed.backend, journal);
    await send(broker, 'a', 'a', 'b');
    await app.stop();
    const all = await broker.endOffset(CHANGELOG);
    let goOn: () => void = () => undefined;
    const prepare = (): Promise<void> => new Promise((resolve) => (goOn = resolve));
    const stores = { counts: { ...counting.stores?.counts, prepare } } as typeof counting.stores;
    const options = { topology: { ...counting, stores } as Topology, backend: observed.backend, logger: journal };
    const second = createStreamsApp({ ...options, now: Date.now, onFatal: () => undefined });
    expect(second.unrestored?.()).toBe(0);
    await second.start();
    await until(() => second.unrestored?.() === all);
    goOn();
    await until(() => second.ready());
    expect(second.unrestored?.()).toBe(0);
    await second.stop();
  });

  it('leaves no fetcher behind when it is closed while a read of its changelog is blocked', async () => {
    broker.append(CHANGELOG, { key: Buffer.from('a'), value: Buffer.from('1') });
    const events: string[] = [];
    const fetcher = broker.fetcher.bind(broker);
    broker.fetcher = () => {
      const own = fetcher();
      let isOfChangelog = false;
      return {
        open: (partition, position) => {
          if (partition.topic !== CHANGELOG.topic) return own.open(partition, position);
          isOfChangelog = true;
          events.push('the changelog is read');
          return { next: () => new Promise(() => undefined), close: () => undefined };
        },
        close: () => {
          if (isOfChangelog) events.push('its fetcher is closed');
          return own.close();
        },
      };
    };
    const app = createStreamsApp({
      topology: counting,
      backend: broker,
      logger: journal,
      now: Date.now,
      onFatal: () => undefined,
    });
    await app.start();
    await until(() => events.length > 0);
    await app.stop();
    expect(events).toEqual(['the changelog is read', 'its fetcher is closed']);
  });

  it('sees what another writer has written to the changelog in between', async () => {
    const app = await start(observed.backend, journal);
    await send(broker, 'a', 'b');
    observed.failNext = 'before';
    observed.beforeFailing = () => {
      broker.append(CHANGELOG, { key: Buffer.from('a'), value: Buffer.from('70') });
      broker.append(CHANGELOG, { key: Buffer.from('b'), value: null });
    };
    await send(broker, 'a', 'b');
    await app.stop();
    expect(await outputs(broker)).toEqual(['a:1', 'b:1', 'a:71', 'b:1']);
    expect(journal.restored.map(({ from }) => from)).toEqual(['changelog', 'memory']);
  });

  it('sees what another writer wrote before its own last commits', async () => {
    const app = await start(observed.backend, journal);
    await send(broker, 'a', 'b');
    broker.append(CHANGELOG, { key: Buffer.from('b'), value: Buffer.from('70') });
    await send(broker, 'a');
    observed.failNext = 'before';
    await send(broker, 'b', 'a');
    await app.stop();
    expect(await outputs(broker)).toEqual(['a:1', 'b:1', 'a:2', 'b:71', 'a:3']);
    expect(journal.events).toContain('changelog_has_other_writers undefined');
  });

  it('leaves out nothing that a commit wrote in place of records that the changelog had lost', async () => {
    const app = await start(observed.backend, journal);
    await send(broker, 'a', 'b');
    broker.loseFrom(CHANGELOG, 2);
    await send(broker, 'c', 'd', 'e');
    await send(broker, 'c', 'd', 'e');
    await app.stop();
    expect(await outputs(broker)).toEqual(['a:1', 'b:1', 'c:1', 'd:1', 'e:1', 'c:2', 'd:2', 'e:2']);
    expect(journal.restored.map(({ from }) => from)).toEqual(['changelog', 'changelog']);
  });

  it('does not go on with the changelog of another topic of the same name', async () => {
    const app = await start(observed.backend, journal);
    await send(broker, 'a', 'b');
    observed.topicId = 'second';
    observed.failNext = 'before';
    broker.append(INPUT, { key: Buffer.from('a'), value: null });
    await until(() => app.tasks()[0]?.parked?.code === 'STATE_PARTLY_LOST');
    await app.stop();
    expect(await outputs(broker)).toEqual(['a:1', 'b:1']);
    expect(journal.restored.map(({ from }) => from)).toEqual(['changelog', 'changelog']);
    expect(observed.readsFrom.at(-1)).toBe(0);
  });
});

describe('a batch that takes long', () => {
  it('is committed in between once the commit interval is over', async () => {
    let clock = 0;
    for (let n = 0; n < 5_000; n++) broker.append(INPUT, { key: Buffer.from('a'), value: null });
    // The clock is looked at every few records: every slice takes longer than the interval, and less than a turn may.
    const app = await start(broker, journal, { now: () => (clock += 0.5), commitIntervalMs: 10 });
    await until(async () => (await outputs(broker)).length === 5_000);
    await app.stop();
    let transactions = 0;
    await readToEnd(broker, broker.fetcher(), CHANGELOG, 0, ({ records }) => void (transactions += records.length));
    expect(transactions).toBe(5);
    expect((await outputs(broker)).at(-1)).toBe('a:5000');
  });
});

describe('a checkpoint of a store', () => {
  const file = (): string => join(stateDir, 'counting', 'counts-0.checkpoint');

  it('spares a restarted process the changelog before it', async () => {
    const app = await start(observed.backend, journal, { stateDir });
    await send(broker, 'a', 'a', 'b');
    const known = await broker.endOffset(CHANGELOG);
    const second = await restart(app, { stateDir });
    await send(broker, 'a', 'b', 'c');
    await second.stop();
    expect(await outputs(broker)).toEqual(['a:1', 'a:2', 'b:1', 'a:3', 'b:2', 'c:1']);
    expect(journal.restored).toEqual([expect.objectContaining({ from: 'checkpoint', keys: 2, records: 0 })]);
    expect(observed.readsFrom.every((position) => position >= known - 1)).toBe(true);
  });

  it('is written repeatedly while the application runs, and a killed one starts from it', async () => {
    const app = await start(observed.backend, journal, { stateDir, checkpointIntervalMs: 1 });
    for (let n = 0; n < 20; n++) await send(broker, 'a', 'b');
    await until(() => journal.events.filter((event) => event === 'checkpoint_written').length >= 2);
    const killed = await readFile(file());
    await send(broker, 'a');
    await app.stop();
    await writeFile(file(), killed);
    const second = await restart(app, { stateDir });
    await send(broker, 'a', 'b');
    await second.stop();
    expect((await outputs(broker)).slice(-3)).toEqual(['a:21', 'a:22', 'b:21']);
    expect(journal.restored.map(({ from }) => from)).toEqual(['checkpoint']);
  });

  it.each<[string, string, () => Promise<void>]>([
    ['is cut off', 'cut off', async () => writeFile(file(), (await readFile(file())).subarray(0, -3))],
    [
      'is of a topic that was deleted and made again',
      'another topic of the same name',
      () => {
        observed.topicId = 'second';
        return Promise.resolve();
      },
    ],
    [
      'is ahead of the changelog',
      'ends before its position',
      () => {
        const { endOffset } = broker;
        broker.endOffset = (partition) =>
          partition.topic === 'counts' ? Promise.resolve(1) : endOffset.call(broker, partition);
        return Promise.resolve();
      },
    ],
    [
      'is of records that are deleted since',
      'begins after its position',
      () => {
        broker.startOffset = () => Promise.resolve(1_000);
        return Promise.resolve();
      },
    ],
  ])('is ignored with a word about it when it %s', async (_what, reason, spoil) => {
    const app = await start(observed.backend, journal, { stateDir });
    await send(broker, 'a', 'a');
    await app.stop();
    await spoil();
    const second = await restart(app, { stateDir });
    await second.stop();
    expect(journal.events.filter((event) => event.startsWith('checkpoint_ignored'))).toEqual([
      expect.stringContaining(reason),
    ]);
    expect(journal.restored.map(({ from }) => from)).toEqual(['changelog']);
  });

  it('is ignored with a word about it when the bytes of its values have another meaning by now', async () => {
    const app = await start(observed.backend, journal, { stateDir });
    await send(broker, 'a', 'a');
    const second = await restart(app, { stateDir, topology: countingAs('count-2') });
    await second.stop();
    expect(journal.events).toContain('checkpoint_ignored its values are of another version');
    expect(journal.restored.map(({ from }) => from)).toEqual(['changelog']);
  });

  it('is ignored when a tombstone after it may be gone already', async () => {
    const app = await start(observed.backend, journal, { stateDir });
    await send(broker, 'a', 'a');
    const second = await restart(app, { stateDir, now: () => Date.now() + 21 * 3_600_000 });
    await second.stop();
    expect(journal.restored.map(({ from }) => from)).toEqual(['changelog']);
  });

  it('is not written without a directory for it', async () => {
    const app = await start(observed.backend, journal);
    await send(broker, 'a');
    await app.stop();
    expect(await readdir(stateDir)).toEqual([]);
  });
});
