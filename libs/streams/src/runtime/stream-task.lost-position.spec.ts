import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { until } from '../../../../test/support/until.js';
import { readToEnd } from '../backend/log-reader.js';
import { silentLogger } from '../logger.js';
import { type KeyValueStore, keyValueStore } from '../state/key-value-store.js';
import { jsonSerde } from '../state/state-store.js';
import { createMemoryBackend } from '../testing/memory-backend.js';
import { createTopology, type Topology } from '../topology/topology.js';
import { createStreamsApp } from './streams-app.js';
import type { TaskManager } from './task-manager.js';

const INPUT = { topic: 'input', partition: 0 };
const OUTPUT = { topic: 'output', partition: 0 };
const CHANGELOG = { topic: 'counts', partition: 0 };

const counting = createTopology({
  applicationId: 'counting',
  source: INPUT.topic,
  stores: { counts: keyValueStore({ changelogTopic: CHANGELOG.topic, serde: jsonSerde<number>() }) },
  sinks: { output: { topic: OUTPUT.topic, partitioner: 'source-partition' } },
  processor: (context) => ({
    process: ({ key, value }) => {
      const count = (context.store('counts').get(String(key)) ?? 0) + 1;
      context.store('counts').put(String(key), count);
      context.forward('output', { key, value: Buffer.from(`${String(value)}${String(count)}`) });
    },
  }),
});

let broker: ReturnType<typeof createMemoryBackend>;
let apps: TaskManager[];

beforeEach(() => {
  broker = newBroker();
  apps = [];
});

function newBroker(): ReturnType<typeof createMemoryBackend> {
  return createMemoryBackend({ topics: { input: 1, output: 1, counts: 1 }, now: Date.now });
}

afterEach(() => Promise.all(apps.map((app) => app.stop())));

async function start(topology: Topology = counting): Promise<TaskManager> {
  const app = createStreamsApp({
    topology,
    backend: broker,
    logger: silentLogger,
    now: Date.now,
    lingerMs: 0,
    onFatal: (error) => {
      throw error;
    },
  });
  apps.push(app);
  await app.start();
  return app;
}

function append(...values: string[]): void {
  for (const value of values) broker.append(INPUT, { key: Buffer.from('k'), value: Buffer.from(value) });
}

async function outputs(): Promise<string[]> {
  const found: string[] = [];
  await readToEnd(broker, broker.fetcher(), OUTPUT, 0, ({ records }) => {
    found.push(...records.map(({ value }) => String(value)));
  });
  return found;
}

async function untilOutputs(...expected: string[]): Promise<void> {
  await until(async () => (await outputs()).length >= expected.length);
  expect(await outputs()).toEqual(expected);
}

/** An application that has counted a, b and c, was stopped, and whose group the broker has forgotten since. */
async function startForgotten(): Promise<TaskManager> {
  append('a', 'b', 'c');
  const first = await start();
  await untilOutputs('a1', 'b2', 'c3');
  await first.stop();
  broker.forgetOffsets(counting.applicationId);
  const app = await start();
  await until(() => Promise.resolve(app.tasks()[0]?.state === 'parked'));
  return app;
}

describe('a partition whose committed offset has expired while its changelog is there (R-45)', () => {
  it('is parked with what to do, and repeats nothing', async () => {
    const app = await startForgotten();
    const [task] = app.tasks();
    expect(task?.parked).toMatchObject({ code: 'POSITION_LOST', offset: null });
    expect(task?.parked?.message).toMatch(/counting has no committed offset for input-0.*counts-0.*seek/s);
    expect(await outputs()).toEqual(['a1', 'b2', 'c3']);
  });

  it.each([
    ['the end of the log', 'latest', ['d4']],
    ['an offset', 2, ['c4', 'd5']],
    ['the start of the log', 'earliest', ['a4', 'b5', 'c6', 'd7']],
  ] as const)('goes on from %s on command', async (_where, seek, more) => {
    const app = await startForgotten();
    expect(app.command(INPUT, { seek })).toBeNull();
    const group = broker.group({ groupId: counting.applicationId, topics: [] });
    await until(async () => (await group.committed(INPUT)) !== null);
    append('d');
    await untilOutputs('a1', 'b2', 'c3', ...more);
  });

  it('goes on once the position is set otherwise, as by the tools of Kafka', async () => {
    const app = await startForgotten();
    const group = broker.group({ groupId: counting.applicationId, topics: [] });
    await group.commit(INPUT, { offset: 3, metadata: '' });
    append('d');
    expect(app.command(INPUT, 'retry')).toBeNull();
    await untilOutputs('a1', 'b2', 'c3', 'd4');
  });
});

describe('a partition whose changelog is gone while its committed offset is there (R-45)', () => {
  /** The topics were made again, and the group has the offset of before. */
  async function startEmptied(): Promise<TaskManager> {
    append('a', 'b', 'c');
    const first = await start();
    await untilOutputs('a1', 'b2', 'c3');
    await first.stop();
    const committed = await broker.group({ groupId: counting.applicationId, topics: [] }).committed(INPUT);
    if (!committed) throw new Error('Nothing was committed.');
    broker = newBroker();
    append('a', 'b', 'c');
    await broker.group({ groupId: counting.applicationId, topics: [] }).commit(INPUT, committed);
    return start();
  }

  it('is parked with what to do, instead of going on without its state', async () => {
    const app = await startEmptied();
    append('d');
    await until(() => Promise.resolve(app.tasks()[0]?.state === 'parked'));
    expect(app.tasks()[0]?.parked).toMatchObject({ code: 'STATE_LOST', offset: null });
    expect(app.tasks()[0]?.parked?.message).toMatch(/counts-0.*input-0.*seek/s);
    expect(await outputs()).toEqual([]);
  });

  it('makes its state again from the start of the log on command', async () => {
    const app = await startEmptied();
    await until(() => Promise.resolve(app.tasks()[0]?.state === 'parked'));
    expect(app.command(INPUT, { seek: 'earliest' })).toBeNull();
    await untilOutputs('a1', 'b2', 'c3');
  });
});

describe('a partition that has lost the state of one store, and not of another (R-45)', () => {
  const SUMS = { topic: 'sums', partition: 0 };
  const withSums: Topology = {
    ...counting,
    stores: { ...counting.stores, sums: keyValueStore({ changelogTopic: SUMS.topic, serde: jsonSerde<number>() }) },
  };

  async function startWithout(): Promise<TaskManager> {
    broker = createMemoryBackend({ topics: { input: 1, output: 1, counts: 1, sums: 1 }, now: Date.now });
    append('a', 'b');
    broker.append(SUMS, { key: Buffer.from('k'), value: Buffer.from('2') });
    const group = broker.group({ groupId: counting.applicationId, topics: [] });
    await group.commit(INPUT, { offset: 1, metadata: 'counts,sums' });
    const app = await start(withSums);
    await until(() => app.tasks()[0]?.state === 'parked');
    return app;
  }

  it('names the store that has its state, and does not start over from the log', async () => {
    const app = await startWithout();
    expect(app.tasks()[0]?.parked).toMatchObject({
      code: 'STATE_PARTLY_LOST',
      message: expect.stringMatching(/counts-0.*The state of sums is there/su),
    });
    expect(app.command(INPUT, { seek: 'earliest' })).toMatch('Another store has its state');
  });

  it('goes on without it from an offset', async () => {
    const app = await startWithout();
    expect(app.command(INPUT, { seek: 1 })).toBeNull();
    await untilOutputs('b1');
  });
});

describe('a partition whose position is not lost', () => {
  it('is not parked in a new group', async () => {
    append('a');
    await start();
    await untilOutputs('a1');
  });

  it('is not parked when its first transactions were rolled back and left markers only', async () => {
    await broker.fencedWriter('rolled-back', [CHANGELOG]).init();
    expect(await broker.endOffset(CHANGELOG)).toBeGreaterThan(0);
    append('a');
    await start();
    await untilOutputs('a1');
  });

  it('is not parked when time alone has changed its store, and no record came', async () => {
    const ticking: Topology = {
      ...counting,
      processor: ({ store }) => ({
        process: () => undefined,
        punctuate: () => (store('counts') as KeyValueStore<number>).put('ticks', 1),
      }),
    };
    const first = await start(ticking);
    await until(async () => (await broker.endOffset(CHANGELOG)) > 0);
    await first.stop();
    const second = await start(ticking);
    await until(() => Promise.resolve(second.tasks()[0]?.state !== 'starting'));
    expect(second.tasks()[0]?.parked).toBeNull();
    await second.stop();
    broker.forgetOffsets(counting.applicationId);
    const third = await start(ticking);
    await until(() => Promise.resolve(third.tasks()[0]?.state !== 'starting'));
    expect(third.tasks()[0]?.parked?.code).toBe('POSITION_LOST');
  });

  it('is not parked after a reset to the start of the log', async () => {
    append('a');
    const first = await start();
    await untilOutputs('a1');
    await first.stop();
    const group = broker.group({ groupId: counting.applicationId, topics: [] });
    await group.commit(INPUT, { offset: 0, metadata: '' });
    await start();
    await untilOutputs('a1', 'a2');
  });

  it('takes no other position on command', async () => {
    append('a');
    const app = await start();
    await untilOutputs('a1');
    expect(app.command(INPUT, { seek: 'earliest' })).toBe('It is not parked.');
  });
});
