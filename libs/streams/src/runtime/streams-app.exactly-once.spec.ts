import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { until } from '../../../../test/support/until.js';
import type { StreamsBackend, Transaction, TransactionalProducer } from '../backend/backend.js';
import { readToEnd } from '../backend/log-reader.js';
import { silentLogger } from '../logger.js';
import { keyValueStore } from '../state/key-value-store.js';
import { jsonSerde } from '../state/state-store.js';
import { createMemoryBackend } from '../testing/memory-backend.js';
import { createTopology } from '../topology/topology.js';
import { createStreamsApp } from './streams-app.js';
import type { TaskManager } from './task-manager.js';

/** Numbers each record of a key by how many came before it: a lost, doubled or reordered one shows in the output. */
function countingTopology(timeToLive: { readonly timeToLiveMs?: number } = {}) {
  return createTopology({
    applicationId: 'counting',
    source: 'input',
    stores: { counts: keyValueStore({ changelogTopic: 'counts', serde: jsonSerde<number>(), ...timeToLive }) },
    sinks: { output: { topic: 'output', partitioner: 'source-partition' } },
    processor: (context) => {
      const counts = context.store('counts');
      return {
        process: ({ key, value }) => {
          const name = String(key);
          const count = (counts.get(name) ?? 0) + 1;
          counts.put(name, count);
          context.forward('output', { key, value: Buffer.from(`${String(value)}:${String(count)}`) });
        },
      };
    },
  });
}

const counting = countingTopology();

type Fault = 'none' | 'before' | 'after';

/** A backend whose commits fail by plan, before they take effect or after: the caller cannot know which. */
function faulty(backend: StreamsBackend, faults: Fault[]): StreamsBackend {
  const wrap = (producer: TransactionalProducer): TransactionalProducer => ({
    init: () => producer.init(),
    close: () => producer.close(),
    commit: async (transaction: Transaction) => {
      const fault = faults.shift() ?? 'none';
      if (fault === 'before') throw new Error('the connection broke before the commit');
      const baseOffsets = await producer.commit(transaction);
      if (fault === 'after') throw new Error('the connection broke after the commit');
      return baseOffsets;
    },
  });
  return new Proxy(backend, {
    get: (target, property) => {
      if (property === 'producer') return (transactionalId: string) => wrap(target.producer(transactionalId));
      const value: unknown = Reflect.get(target, property);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}

function newBroker() {
  return createMemoryBackend({ topics: { input: 1, output: 1, counts: 1 }, now: Date.now });
}

async function start(backend: StreamsBackend, instanceId: string, topology = counting): Promise<TaskManager> {
  const app = createStreamsApp({
    topology,
    backend,
    instanceId,
    logger: silentLogger,
    now: Date.now,
    onFatal: (error) => {
      throw error;
    },
  });
  await app.start();
  return app;
}

async function outputs(backend: StreamsBackend): Promise<string[]> {
  const found: string[] = [];
  await readToEnd(backend, backend.fetcher(), { topic: 'output', partition: 0 }, 0, ({ records }) => {
    for (const { value } of records) found.push(String(value));
  });
  return found;
}

/** The last value of each key in the changelog. */
async function changes(backend: StreamsBackend): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  await readToEnd(backend, backend.fetcher(), { topic: 'counts', partition: 0 }, 0, ({ records }) => {
    for (const { key, value } of records) found.set(String(key), String(value));
  });
  return found;
}

function append(broker: ReturnType<typeof newBroker>, key: string, value: string, timestamp = Date.now()): void {
  broker.append({ topic: 'input', partition: 0 }, { key: Buffer.from(key), value: Buffer.from(value), timestamp });
}

describe('a stream application', () => {
  it('writes nothing any more once another instance has taken its partition over', async () => {
    const broker = newBroker();
    const zombie = await start(broker, 'i');
    await until(() => Promise.resolve(zombie.ready()));
    const successor = await start(broker, 'i');
    await until(() => Promise.resolve(successor.ready()));
    for (const value of ['one', 'two', 'three']) append(broker, 'a', value);
    await until(async () => (await outputs(broker)).length >= 3);
    await Promise.all([zombie.stop(), successor.stop()]);
    expect(await outputs(broker)).toEqual(['one:1', 'two:2', 'three:3']);
  });

  it('gives every record exactly one effect, in order, whatever commits fail and however', async () => {
    const plan = fc.array(fc.constantFrom<Fault>('none', 'before', 'after'), { maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(plan, fc.integer({ min: 1, max: 12 }), async (faults, count) => {
        const broker = newBroker();
        const app = await start(faulty(broker, [...faults]), 'i');
        for (let n = 1; n <= count; n++) {
          append(broker, 'a', String(n));
          if (n % 4 === 0) await new Promise((resolve) => setImmediate(resolve));
        }
        await until(async () => (await outputs(broker)).length >= count);
        await app.stop();
        expect(await outputs(broker)).toEqual(
          Array.from({ length: count }, (_, i) => `${String(i + 1)}:${String(i + 1)}`),
        );
      }),
      { numRuns: 12 },
    );
  });

  it('lets entries expire by the records alone, whatever commits fail and however, and deletes them in the changelog', async () => {
    const plan = fc.array(fc.constantFrom<Fault>('none', 'before', 'after'), { maxLength: 6 });
    const gapsMs = fc.array(fc.constantFrom(0, 400, 1_000), { minLength: 1, maxLength: 10 });
    await fc.assert(
      fc.asyncProperty(plan, gapsMs, async (faults, gaps) => {
        const broker = newBroker();
        const app = await start(faulty(broker, [...faults]), 'i', countingTopology({ timeToLiveMs: 1_000 }));
        let [now, count] = [1_000, 0];
        const expected = gaps.map((gapMs, index) => {
          now += gapMs;
          count = gapMs < 1_000 ? count + 1 : 1;
          append(broker, 'a', String(index), now);
          return `${String(index)}:${String(count)}`;
        });
        append(broker, 'b', 'last', now + 1_100);
        await until(async () => expect(await outputs(broker)).toEqual([...expected, 'last:1']));
        await until(async () => expect((await changes(broker)).get('a')).toBe('null'));
        await app.stop();
      }),
      { numRuns: 12 },
    );
  });
});
