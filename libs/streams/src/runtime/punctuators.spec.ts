import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { until } from '../../../../test/support/until.js';
import type { StreamsBackend, Transaction } from '../backend/backend.js';
import { readToEnd } from '../backend/log-reader.js';
import { createMemoryBackend } from '../backend/memory/memory-backend.js';
import { silentLogger } from '../logger.js';
import { keyValueStore } from '../state/key-value-store.js';
import { jsonSerde } from '../state/state-store.js';
import { createTopology } from '../topology/topology.js';
import { createStreamsApp } from './streams-app.js';
import type { TaskManager } from './task-manager.js';

const EVERY_MS = 100;

/** How many records came since the punctuator was called last. */
function counting(type: 'stream-time' | 'wall-clock') {
  return createTopology({
    applicationId: 'counting',
    source: 'input',
    stores: { counts: keyValueStore({ changelogTopic: 'counts', serde: jsonSerde<number>() }) },
    sinks: { output: { topic: 'output', partitioner: 'source-partition' } },
    processor: (context) => {
      const counts = context.store('counts');
      context.schedule({ everyMs: EVERY_MS, type }, (time) => {
        const text = `${String(time)}: ${String(counts.get('records') ?? 0)}`;
        context.forward('output', { key: null, value: Buffer.from(text) });
        counts.delete('records');
      });
      return {
        process: () => counts.put('records', (counts.get('records') ?? 0) + 1),
      };
    },
  });
}

type Fault = 'none' | 'before' | 'after';

function faulty(backend: StreamsBackend, faults: Fault[]): StreamsBackend {
  return new Proxy(backend, {
    get: (target, property) => {
      const value: unknown = Reflect.get(target, property);
      if (property !== 'producer') return typeof value === 'function' ? (value.bind(target) as unknown) : value;
      return (transactionalId: string) => {
        const producer = target.producer(transactionalId);
        return {
          init: () => producer.init(),
          close: () => producer.close(),
          commit: async (transaction: Transaction) => {
            const fault = faults.shift() ?? 'none';
            if (fault === 'before') throw new Error('the connection broke before the commit');
            const baseOffsets = await producer.commit(transaction);
            if (fault === 'after') throw new Error('the connection broke after the commit');
            return baseOffsets;
          },
        };
      };
    },
  });
}

function newBroker() {
  let now = 0;
  const backend = createMemoryBackend({ topics: { input: 1, output: 1, counts: 1 }, now: () => now });
  return {
    backend,
    now: () => now,
    moveTo: (time: number) => {
      now = time;
    },
    append: () => backend.append({ topic: 'input', partition: 0 }, { key: null, value: null }),
  };
}

type Broker = ReturnType<typeof newBroker>;

async function start(broker: Broker, type: 'stream-time' | 'wall-clock', faults: Fault[] = []): Promise<TaskManager> {
  const app = createStreamsApp({
    ...{ topology: counting(type), backend: faulty(broker.backend, faults), instanceId: 'i', logger: silentLogger },
    now: broker.now,
    onFatal: (error) => {
      throw error;
    },
  });
  await app.start();
  return app;
}

async function outputs({ backend }: Broker): Promise<string[]> {
  const found: string[] = [];
  await readToEnd(backend, backend.fetcher(), { topic: 'output', partition: 0 }, 0, ({ records }) => {
    for (const { value } of records) found.push(String(value));
  });
  return found;
}

/** One call at the first record, then one behind the first record of each interval of the grid. */
function expectedCalls(timestamps: readonly number[]): string[] {
  const calls: string[] = [];
  let interval = -1;
  let count = 0;
  for (const timestamp of timestamps) {
    count++;
    if (Math.floor(timestamp / EVERY_MS) === interval) continue;
    interval = Math.floor(timestamp / EVERY_MS);
    calls.push(`${String(timestamp)}: ${String(count)}`);
    count = 0;
  }
  return calls;
}

describe('the punctuators of a stream application', () => {
  it('are called by stream time exactly once for each interval, whatever commits fail and wherever it restarts', async () => {
    const steps = fc.array(fc.integer({ min: 0, max: 150 }), { minLength: 1, maxLength: 12 });
    const plan = fc.array(fc.constantFrom<Fault>('none', 'before', 'after'), { maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(steps, plan, fc.nat(12), async (gaps, faults, restartBefore) => {
        const broker = newBroker();
        let app = await start(broker, 'stream-time', [...faults]);
        const timestamps: number[] = [];
        for (const [i, gap] of gaps.entries()) {
          if (i === restartBefore) {
            await app.stop();
            app = await start(broker, 'stream-time');
          }
          timestamps.push((timestamps.at(-1) ?? 0) + gap);
          broker.moveTo(timestamps[i] ?? 0);
          broker.append();
          if (i % 3 === 0) await until(async () => (await outputs(broker)).length >= expectedCalls(timestamps).length);
        }
        await until(async () => (await outputs(broker)).length >= expectedCalls(timestamps).length);
        await app.stop();
        expect(await outputs(broker)).toEqual(expectedCalls(timestamps));
      }),
      { numRuns: 12 },
    );
  });

  it('are called by the wall clock while no record comes, before the first one and behind the last', async () => {
    const broker = newBroker();
    const app = await start(broker, 'wall-clock');
    await until(() => Promise.resolve(app.ready()));
    broker.moveTo(100);
    await until(async () => (await outputs(broker)).length === 1);
    broker.append();
    await until(async () => (await broker.backend.endOffset({ topic: 'counts', partition: 0 })) > 2);
    broker.moveTo(250);
    await until(async () => (await outputs(broker)).length === 2);
    await app.stop();
    expect(await outputs(broker)).toEqual(['100: 0', '250: 1']);
  });

  it('end the process with the fix in the message when their interval is invalid', async () => {
    const broker = newBroker();
    let fatal: Error | null = null;
    const topology = createTopology({
      ...counting('wall-clock'),
      processor: (context) => {
        context.schedule({ everyMs: 0, type: 'wall-clock' }, () => undefined);
        return { process: () => undefined };
      },
    });
    const app = createStreamsApp({
      ...{ topology, backend: broker.backend, logger: silentLogger, now: broker.now },
      onFatal: (error) => {
        fatal = error;
      },
    });
    await app.start();
    await until(() => Promise.resolve(fatal !== null));
    await app.stop();
    expect(fatal).toMatchObject({ code: 'INVALID_TOPOLOGY' });
    expect(String(fatal)).toContain('schedule() takes a whole number of at least 1');
  });
});
