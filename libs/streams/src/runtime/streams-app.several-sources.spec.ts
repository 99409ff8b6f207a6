import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { until } from '../../../../test/support/until.js';
import type { StreamsBackend } from '../backend/backend.js';
import { readToEnd } from '../backend/log-reader.js';
import { StreamsError } from '../errors.js';
import { silentLogger } from '../logger.js';
import type { StreamRecord, TopicPartition } from '../record.js';
import { keyValueStore } from '../state/key-value-store.js';
import { jsonSerde } from '../state/state-store.js';
import { createMemoryBackend } from '../testing/memory-backend.js';
import { createTopology, type Topology } from '../topology/topology.js';
import type { ExceptionHandlers } from './parking.js';
import { createStreamsApp } from './streams-app.js';
import type { TaskManager } from './task-manager.js';

/** Numbers the records of a key, whichever topic they are of: a lost, doubled or reordered one shows in the output. */
const joining = createTopology({
  applicationId: 'joining',
  source: ['orders', 'payments'],
  stores: { counts: keyValueStore({ changelogTopic: 'counts', serde: jsonSerde<number>() }) },
  sinks: { output: { topic: 'output', partitioner: 'source-partition' } },
  processor: (context) => {
    const counts = context.store('counts');
    return {
      process: ({ key, value }) => {
        if (String(value) === 'poison') throw new StreamsError('PROCESSING_FAILED', 'cannot process this');
        const count = (counts.get(String(key)) ?? 0) + 1;
        counts.put(String(key), count);
        context.forward('output', { key, value: Buffer.from(`${context.topic} ${String(value)} ${String(count)}`) });
      },
    };
  },
});

let broker: ReturnType<typeof createMemoryBackend>;
let apps: TaskManager[];

beforeEach(() => {
  broker = createMemoryBackend({ topics: { orders: 2, payments: 2, counts: 2, output: 2 }, now: Date.now });
  apps = [];
});

afterEach(() => Promise.all(apps.map((app) => app.stop())));

async function start(
  handlers: ExceptionHandlers = {},
  backend: StreamsBackend = broker,
  topology: Topology = joining,
): Promise<TaskManager> {
  const app = createStreamsApp({
    topology,
    backend,
    ...handlers,
    logger: silentLogger,
    now: Date.now,
    onFatal: (error) => {
      throw error;
    },
  });
  apps.push(app);
  await app.start();
  return app;
}

function append(topic: string, value: string, timestamp: number, partition = 0): number {
  return broker.append({ topic, partition }, { key: Buffer.from('k'), value: Buffer.from(value), timestamp });
}

async function outputs(partition = 0): Promise<string[]> {
  const found: string[] = [];
  await readToEnd(broker, broker.fetcher(), { topic: 'output', partition }, 0, ({ records }) => {
    for (const { value } of records) found.push(String(value));
  });
  return found;
}

describe('a topology with several sources', () => {
  it('goes on at the end of what was lost in one source, on command, and at its position in the others', async () => {
    append('orders', 'a', 10);
    for (const [at, value] of ['x', 'y', 'z'].entries()) append('payments', value, 20 + at);
    const before = ['orders a 1', 'payments x 2', 'payments y 3', 'payments z 4'];
    const first = await start();
    await until(async () => expect(await outputs()).toEqual(before));
    await first.stop();
    broker.loseFrom({ topic: 'payments', partition: 0 }, 1);
    for (const [at, value] of ['p', 'q', 'r'].entries()) append('payments', value, 30 + at);
    append('orders', 'b', 40);
    const app = await start();
    await until(() => app.tasks()[0]?.state === 'parked');
    expect(app.tasks()[0]?.parked).toMatchObject({
      code: 'LOG_TRUNCATED',
      topic: 'payments',
      message: expect.stringMatching(/payments-0 has lost .*Seek to 1 /su),
    });
    expect(app.command({ topic: 'orders', partition: 0 }, { seek: 1 })).toBeNull();
    const after = ['payments p 5', 'payments q 6', 'payments r 7', 'orders b 8'];
    await until(async () => expect(await outputs()).toEqual([...before, ...after]));
  });

  it('has one task per partition number, which processes the records of all by their time', async () => {
    for (const [at, value] of ['a', 'b', 'c'].entries()) append('orders', value, 10 + 20 * at);
    for (const [at, value] of ['x', 'y', 'z'].entries()) append('payments', value, 20 + 10 * at);
    append('payments', 'other', 1, 1);
    const app = await start();
    const expected = ['orders a 1', 'payments x 2', 'orders b 3', 'payments y 4', 'payments z 5', 'orders c 6'];
    await until(async () => expect(await outputs()).toEqual(expected));
    await until(async () => expect(await outputs(1)).toEqual(['payments other 1']));
    await until(() =>
      expect(app.tasks()).toMatchObject([
        { topic: 'orders', partition: 0, state: 'running', lagRecords: 0 },
        { topic: 'orders', partition: 1, state: 'running', lagRecords: 0 },
      ]),
    );
  });

  it('goes on in each of them where it has stopped', async () => {
    append('orders', 'a', 10);
    append('payments', 'x', 20);
    await start();
    await until(async () => expect(await outputs()).toHaveLength(2));
    await apps.pop()?.stop();
    append('payments', 'y', 30);
    append('orders', 'b', 40);
    await start();
    await until(async () =>
      expect(await outputs()).toEqual(['orders a 1', 'payments x 2', 'payments y 3', 'orders b 4']),
    );
  });

  it('commits the positions of all of them in one transaction with what came of their records', async () => {
    const commits: string[][] = [];
    const backend: StreamsBackend = Object.create(broker) as StreamsBackend;
    backend.producer = (transactionalId) => {
      const producer = broker.producer(transactionalId);
      return {
        init: () => producer.init(),
        close: () => producer.close(),
        commit: async (transaction) => {
          const { offsets: positions = [] } = transaction;
          for (const number of [0, 1]) {
            const own = positions.filter(({ partition }) => partition === number);
            if (own.length > 0) commits.push(own.map(({ topic }) => topic));
          }
          const offsets = await producer.commit(transaction);
          if (commits.length % 2 === 0) throw new Error('the connection broke after the commit');
          return offsets;
        },
      };
    };
    await start({}, backend);
    const expected: string[] = [];
    for (let n = 1; n <= 8; n++) {
      const topic = n % 3 === 0 ? 'payments' : 'orders';
      append(topic, String(n), n);
      expected.push(`${topic} ${String(n)} ${String(n)}`);
      await until(async () => expect(await outputs()).toEqual(expected));
    }
    for (const topics of commits) expect(topics).toEqual(['orders', 'payments']);
  });

  it('shares its partition numbers among its instances, all topics together', async () => {
    const [first, second] = [await start(), await start()];
    await until(() => first.tasks().length === 1 && second.tasks().length === 1);
    for (const partition of [0, 1]) {
      append('orders', 'a', 10, partition);
      await until(async () => expect(await outputs(partition)).toEqual(['orders a 1']));
      append('payments', 'x', 20, partition);
      await until(async () => expect(await outputs(partition)).toEqual(['orders a 1', 'payments x 2']));
    }
  });

  it('names the source of a record at which it fails, and goes on after it on a skip', async () => {
    const kept: [TopicPartition, StreamRecord['offset']][] = [];
    const app = await start({
      deadLetterQueue: (partition, { offset }) => Promise.resolve(void kept.push([partition, offset])),
    });
    append('orders', 'a', 10);
    await until(async () => expect(await outputs()).toHaveLength(1));
    append('payments', 'x', 20);
    const offset = append('payments', 'poison', 30);
    append('payments', 'y', 40);
    await until(() => app.tasks()[0]?.state === 'parked');
    append('orders', 'b', 50);
    expect(app.tasks()[0]?.parked).toMatchObject({ code: 'PROCESSING_FAILED', topic: 'payments', offset });
    expect(app.command({ topic: 'orders', partition: 0 }, 'skip')).toBeNull();
    const expected = ['orders a 1', 'payments x 2', 'payments y 3', 'orders b 4'];
    await until(async () => expect(await outputs()).toEqual(expected));
    expect(kept).toEqual([[{ topic: 'payments', partition: 0 }, offset]]);
  });

  it('commits just before the record at which it fails, and not each part before it', async () => {
    let commits = 0;
    const backend: StreamsBackend = Object.create(broker) as StreamsBackend;
    backend.producer = (transactionalId) => {
      const producer = broker.producer(transactionalId);
      return {
        init: () => producer.init(),
        close: () => producer.close(),
        commit: (transaction) => {
          commits++;
          return producer.commit(transaction);
        },
      };
    };
    for (let n = 0; n < 400; n++) append(n % 2 === 0 ? 'orders' : 'payments', String(n), n);
    const offset = append('payments', 'poison', 400);
    append('orders', 'last', 401);
    const app = await start({}, backend);
    await until(() => app.tasks()[0]?.state === 'parked');
    expect(app.tasks()[0]?.parked).toMatchObject({ code: 'PROCESSING_FAILED', topic: 'payments', offset });
    expect(await outputs()).toHaveLength(400);
    expect(commits).toBeLessThan(20);
  });

  it('is parked when its offsets are lost, and begins again in all of them on a command', async () => {
    append('orders', 'a', 10);
    append('payments', 'x', 20);
    await start();
    await until(async () => expect(await outputs()).toHaveLength(2));
    await apps.pop()?.stop();
    broker.forgetOffsets('joining');
    const app = await start();
    await until(() => app.tasks()[0]?.parked?.code === 'POSITION_LOST');
    const task = { topic: 'orders', partition: 0 };
    expect(app.tasks()[0]?.parked?.message).toContain('Seek to earliest');
    expect(app.command(task, { seek: 5 })).toContain('several inputs');
    expect(app.command(task, { seek: 'latest' })).toBeNull();
    await until(() => app.tasks()[0]?.state === 'running');
    append('payments', 'y', 30);
    await until(async () => expect(await outputs()).toEqual(['orders a 1', 'payments x 2', 'payments y 3']));
  });

  it('is parked with a way out that the command takes, when one of its stores has lost its state', async () => {
    const more = { orders: 2, payments: 2, counts: 2, sums: 2, output: 2 };
    broker = createMemoryBackend({ topics: more, now: Date.now });
    broker.append({ topic: 'sums', partition: 0 }, { key: Buffer.from('k'), value: Buffer.from('2') });
    const group = broker.group({ groupId: 'joining', topics: [] });
    for (const topic of ['orders', 'payments'])
      await group.commit({ topic, partition: 0 }, { offset: 0, metadata: 'counts,sums' }, -1);
    const sums = keyValueStore({ changelogTopic: 'sums', serde: jsonSerde<number>() });
    const app = await start({}, broker, { ...joining, stores: { ...joining.stores, sums } });
    await until(() => app.tasks()[0]?.parked?.code === 'STATE_PARTLY_LOST');
    const task = { topic: 'orders', partition: 0 };
    expect(app.tasks()[0]?.parked?.message).toContain('seek to latest, which skips records');
    expect(app.command(task, { seek: 'earliest' })).toContain('or seek to latest.');
    expect(app.command(task, { seek: 'latest' })).toBeNull();
  });

  it('is parked with a way out that the command takes, when its changelog was deleted', async () => {
    const group = broker.group({ groupId: 'joining', topics: [] });
    for (const topic of ['orders', 'payments'])
      await group.commit({ topic, partition: 0 }, { offset: 0, metadata: 'counts' }, -1);
    const app = await start();
    await until(() => app.tasks()[0]?.parked?.code === 'STATE_LOST');
    expect(app.tasks()[0]?.parked?.message).toContain('seek to latest, which skips records');
  });

  it('does not start where they have different partition counts', async () => {
    broker = createMemoryBackend({ topics: { orders: 2, payments: 3, counts: 2, output: 2 }, now: Date.now });
    await expect(start()).rejects.toMatchObject({
      code: 'PARTITIONS_DIFFER',
      message: expect.stringContaining('The topic payments, a source of joining, has 3 partitions and orders has 2'),
    });
  });
});
