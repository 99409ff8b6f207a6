import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { until } from '../../../../test/support/until.js';
import { silentLogger } from '../logger.js';
import { partitionForKey } from '../partitioner.js';
import { keyValueStore } from '../state/key-value-store.js';
import { jsonSerde } from '../state/state-store.js';
import { createMemoryBackend } from '../testing/memory-backend.js';
import { createTopology } from '../topology/topology.js';
import { lingerFor, untilNextTurn } from './linger.js';
import { createStreamsApp } from './streams-app.js';

const places = createTopology({
  applicationId: 'places',
  source: 'scans',
  stores: { places: keyValueStore({ changelogTopic: 'places', serde: jsonSerde<string>() }) },
  sinks: { overdue: { topic: 'overdue', partitioner: 'source-partition' } },
  processor: (context) => {
    const store = context.store('places');
    return {
      process: ({ key, value }) => {
        if (String(value) === 'nowhere') throw new TypeError('There is no such place.');
        store.put(String(key), String(value));
      },
      punctuate: ({ wallClockMs }) => {
        for (const [parcel] of store.entries()) {
          if (wallClockMs < 5_000) return;
          store.delete(parcel);
          context.forward('overdue', { key: Buffer.from(parcel), value: null });
        }
      },
    };
  },
});

interface StartOptions {
  readonly partitions?: number;
  readonly topology?: typeof places;
  readonly backend?: ReturnType<typeof createMemoryBackend>;
}

function start({ partitions = 2, topology = places, ...options }: StartOptions = {}) {
  const clock = { now: 1_000 };
  const states: string[] = [];
  const topics = { scans: partitions, places: partitions, overdue: partitions };
  const backend = options.backend ?? createMemoryBackend({ topics, now: () => clock.now });
  const app = createStreamsApp({
    topology,
    backend,
    logger: silentLogger,
    now: () => clock.now,
    onStateChange: (state) => states.push(state),
    onFatal: (error) => {
      throw error;
    },
  });
  const scan = (partition: number, parcel: string, place: string) =>
    backend.append({ topic: 'scans', partition }, { key: Buffer.from(parcel), value: Buffer.from(place) });
  return { app, backend, clock, scan, states, store: app.readOnlyStore('places') };
}

describe('a stream application', () => {
  it('takes undefined for any setting that may be left out', async () => {
    const out = createTopology({
      applicationId: 'open',
      source: 'in',
      stores: undefined,
      sinks: { out: { topic: 'out', partitioner: 'source-partition' } },
      processor: (context) => ({
        process: ({ key, value }) => context.forward('out', { key, value, headers: undefined, timestamp: undefined }),
      }),
    });
    const topics = { in: 1, out: 1 };
    const backend = createMemoryBackend({ topics, now: () => 0, logger: undefined });
    const app = createStreamsApp({
      topology: out,
      backend,
      logger: silentLogger,
      now: () => 0,
      onFatal: () => undefined,
      instanceId: undefined,
      sessionTimeoutMs: undefined,
      commitIntervalMs: undefined,
      lingerMs: undefined,
      stateDir: undefined,
      checkpointIntervalMs: undefined,
      onStateChange: undefined,
      random: undefined,
      deserializationExceptionHandler: undefined,
      processingExceptionHandler: undefined,
      productionExceptionHandler: undefined,
      deadLetterQueue: undefined,
    });
    await app.start();
    backend.append({ topic: 'in', partition: 0 }, { key: null, value: Buffer.from('one'), timestamp: undefined });
    await until(async () => (await backend.endOffset({ topic: 'out', partition: 0 })) > 0);
    await app.stop();
  });

  it('warns once when it forwards timestamps to a sink that replaces them', async () => {
    const backend = createMemoryBackend({ topics: { in: 1, out: 1 }, now: () => 0 });
    backend.topicSettings = () => Promise.resolve(new Map([['message.timestamp.type', 'LogAppendTime']]));
    const warned: unknown[] = [];
    let processed = 0;
    const app = createStreamsApp({
      topology: createTopology({
        applicationId: 'times',
        source: 'in',
        sinks: { out: { topic: 'out', partitioner: 'source-partition' } },
        processor: (context) => ({
          process: ({ key, value, timestamp }) => {
            processed++;
            context.forward('out', { key, value, timestamp: String(value) === 'timed' ? timestamp : undefined });
          },
        }),
      }),
      backend,
      logger: { ...silentLogger, warn: (event, fields) => warned.push([event, fields?.['topic']]) },
      now: () => 0,
      onFatal: () => undefined,
    });
    await app.start();
    for (const value of ['plain', 'timed', 'timed'])
      backend.append({ topic: 'in', partition: 0 }, { key: null, value: Buffer.from(value) });
    await until(() => processed === 3);
    expect(warned).toEqual([['forwarded_timestamp_ignored', 'out']]);
    await app.stop();
  });

  it('lets others read the committed state of all its partitions', async () => {
    const { app, scan, store } = start();
    await app.start();
    scan(0, 'parcel-1', 'Utrecht');
    scan(1, 'parcel-2', 'Zwolle');
    await until(() => Promise.resolve([...store.entries()].length === 2));
    expect([store.get('parcel-1'), store.get('parcel-2'), store.get('parcel-3')]).toEqual([
      'Utrecht',
      'Zwolle',
      undefined,
    ]);
    // @ts-expect-error -- there is no such store
    expect(() => app.readOnlyStore('place')).toThrow('has no store named place');
    await app.stop();
  });

  it('lets the records of a partition share transactions for longer, the more partitions the source has', async () => {
    const { app, backend, clock, scan } = start({ partitions: 300 });
    const committedAt: number[] = [];
    const whole = backend.producer.bind(backend);
    backend.producer = (transactionalId) => {
      const producer = whole(transactionalId);
      const commit = producer.commit.bind(producer);
      producer.commit = async (transaction) => {
        const offsets = await commit(transaction);
        if ([...transaction.records].length === 0) return offsets;
        if (committedAt.push(performance.now()) === 1) scan(0, 'parcel-2', 'Zwolle');
        return offsets;
      };
      return producer;
    };
    await app.start();
    scan(0, 'parcel-1', 'Utrecht');
    await until(() => Promise.resolve(committedAt.length >= 2));
    const [first = NaN, second = NaN] = committedAt;
    // Timers may fire up to a millisecond early.
    expect(second - first).toBeGreaterThanOrEqual(untilNextTurn(clock.now, lingerFor(300)) - 1);
    await app.stop();
  });

  it('does what time alone makes due while no record comes', async () => {
    const { app, backend, clock, scan, store } = start();
    await app.start();
    scan(0, 'parcel-1', 'Utrecht');
    await until(() => Promise.resolve(store.get('parcel-1') !== undefined));
    clock.now = 5_000;
    await until(() => Promise.resolve(store.get('parcel-1') === undefined));
    expect(await backend.endOffset({ topic: 'overdue', partition: 0 })).toBeGreaterThan(0);
    await app.stop();
  });

  it('knows the time of its records after a restart, before the next one comes', async () => {
    const streamTimes: (number | null)[] = [];
    const timed = createTopology({
      ...places,
      processor: (context) => ({
        process: ({ key, value }) => context.store('places').put(String(key), String(value)),
        punctuate: ({ streamTimeMs }) => streamTimes.push(streamTimeMs),
      }),
    });
    const first = start({ topology: timed });
    await first.app.start();
    first.scan(0, 'parcel-1', 'Utrecht');
    await until(() => first.store.get('parcel-1') !== undefined);
    await first.app.stop();
    streamTimes.length = 0;
    const second = start({ topology: timed, partitions: 1, backend: first.backend });
    await second.app.start();
    await until(() => streamTimes.includes(1_000));
    await second.app.stop();
  });

  it('informs a listener of its states: it runs, is degraded by a parked partition, and stops', async () => {
    const { app, scan, states } = start();
    await app.start();
    await until(() => Promise.resolve(states.includes('running')));
    scan(1, 'parcel-1', 'nowhere');
    await until(() => Promise.resolve(states.includes('degraded')));
    await app.stop();
    expect([states[0], states.at(-1)]).toEqual(['rebalancing', 'stopped']);
    expect(states.indexOf('running')).toBeLessThan(states.indexOf('degraded'));
    expect(states.filter((state, i) => state === states[i - 1])).toEqual([]);
  });
});

describe('a sink by key whose topic gets more partitions', () => {
  const byKey = createTopology({
    applicationId: 'by-key',
    source: 'scans',
    sinks: { parcels: { topic: 'parcels', partitioner: 'key' } },
    processor: (context) => ({ process: ({ key, value }) => context.forward('parcels', { key, value }) }),
  });

  afterEach(() => {
    jest.useRealTimers();
  });

  it('is written by the new count within a minute, by tasks that ran before too', async () => {
    jest.useFakeTimers({
      doNotFake: ['Date', 'nextTick', 'performance', 'setImmediate', 'setTimeout', 'clearTimeout'],
    });
    const topics = { scans: 1, parcels: 2 };
    const backend = createMemoryBackend({ topics, now: () => 0 });
    let parcels = 1;
    backend.partitionCount = (topic) => Promise.resolve(topic === 'parcels' ? parcels : 1);
    const app = createStreamsApp({
      topology: byKey,
      backend,
      logger: silentLogger,
      now: () => 0,
      onFatal: (error) => {
        throw error;
      },
    });
    await app.start();
    const key = Buffer.from('parcel-1');
    expect(partitionForKey(key, 2)).toBe(1);
    const reaches = async (partition: number): Promise<boolean> => {
      backend.append({ topic: 'scans', partition: 0 }, { key, value: null });
      return (await backend.endOffset({ topic: 'parcels', partition })) > 0;
    };
    await until(() => reaches(0));
    parcels = 2;
    jest.advanceTimersByTime(60_000);
    await until(() => reaches(1));
    await app.stop();
  });
});
