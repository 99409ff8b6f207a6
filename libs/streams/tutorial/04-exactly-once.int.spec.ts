/**
 * Chapter 4: exactly once.
 *
 * This chapter needs a real broker (WAYPOST_TEST_BROKERS). Each scan of a parcel is numbered by how many came before it.
 * A scan that is lost leaves a gap in the numbers of its parcel, one that is counted twice shifts them, and one that is
 * written twice repeats a number. So the numbers show whether every scan had its effect exactly once.
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Kafka, logLevel } from 'kafkajs';
import {
  createKafkaBackend,
  createStreamsApp,
  createTopology,
  jsonSerde,
  keyValueStore,
  partitionForKey,
  readToEnd,
  silentLogger,
  type StreamsBackend,
  type TaskManager,
  type Transaction,
} from '@waypost/streams';
import { until } from '../../../test/support/until.js';

const PARTITIONS = 2;
const PARCELS = Array.from({ length: 10 }, (_, i) => `parcel-${String(i)}`);

function numberedScans(prefix: string) {
  return createTopology({
    applicationId: `${prefix}-numbering`,
    source: `${prefix}-scans`,
    stores: { counts: keyValueStore({ changelogTopic: `${prefix}-counts`, serde: jsonSerde<number>() }) },
    sinks: { numbered: { topic: `${prefix}-numbered`, partitioner: 'source-partition' } },
    processor: (context) => {
      const counts = context.store('counts');
      return {
        process: ({ key }) => {
          const parcel = String(key);
          const count = (counts.get(parcel) ?? 0) + 1;
          counts.put(parcel, count);
          context.forward('numbered', { key, value: Buffer.from(String(count)) });
        },
      };
    },
  });
}

describe('chapter 4: exactly once', () => {
  const brokers = (process.env['WAYPOST_TEST_BROKERS'] ?? '').split(',');
  const admin = new Kafka({ brokers, clientId: 'chapter-4', logLevel: logLevel.NOTHING }).admin();
  const backend = createKafkaBackend({
    kafka: { brokers, clientId: 'chapter-4' },
    logger: silentLogger,
    now: Date.now,
  });
  let prefix: string;

  beforeAll(async () => {
    await admin.connect();
  });

  afterAll(async () => {
    await admin.disconnect();
    await backend.close();
  });

  // A transaction can fail in two ways that look the same from the outside: the connection breaks before the commit,
  // or behind it. The task does not guess. It throws everything away, producer and state, asks the broker what was
  // committed, and goes on from there.
  it('gives each scan one number although transactions fail before and behind their commit', async () => {
    const topology = numberedScans(await newTopics());
    const faults: Fault[] = ['none', 'before', 'none', 'behind', 'behind', 'before'];
    const app = run(topology, failing(backend, faults), 'only');
    await app.start();
    for (let round = 1; round <= 10; round++) {
      await scanEachParcel();
      await until(async () => (await numbered()).length >= round * PARCELS.length);
    }
    await app.stop();
    expect(faults).toEqual([]);
    expect(numbersByParcel(await numbered())).toEqual(eachNumberOnce(10));
  });

  // A process stops in the middle of a transaction: it was suspended, or its machine is lost to the network. Another one
  // takes its place; under the same instance id at once, otherwise when the session has timed out. It initialises the
  // task's producer first. From then on the broker refuses everything that the stopped one may still send.
  it('fences a process that was stopped in the middle of a transaction and wakes up later', async () => {
    const topology = numberedScans(await newTopics());
    const gate = createGate();
    const stopped = run(topology, gated(backend, gate), 'one');
    await stopped.start();
    await until(() => Promise.resolve(stopped.ready()));
    await scanEachParcel();
    await until(async () => (await numbered()).length === PARCELS.length);
    gate.close();
    await scanEachParcel();
    await until(() => Promise.resolve(gate.waiting() > 0));

    const successor = run(topology, backend, 'one');
    await successor.start();
    await until(async () => (await numbered()).length === 2 * PARCELS.length);
    gate.open();
    await scanEachParcel();
    await until(async () => (await numbered()).length >= 3 * PARCELS.length);
    expect(await gate.outcomes()).toEqual(Array.from({ length: gate.held() }, () => 'PRODUCER_FENCED'));
    await Promise.all([stopped.stop(), successor.stop()]);
    expect(numbersByParcel(await numbered())).toEqual(eachNumberOnce(3));
  });

  async function newTopics(): Promise<string> {
    prefix = randomUUID();
    const names = ['scans', 'counts', 'numbered'].map((name) => `${prefix}-${name}`);
    const topics = names.map((topic) => ({ topic, numPartitions: PARTITIONS, replicationFactor: 1 }));
    await admin.createTopics({ waitForLeaders: true, topics });
    return prefix;
  }

  // Any client may write to the source; this one is at hand.
  async function scanEachParcel(): Promise<void> {
    const producer = backend.producer(`${prefix}-depot`);
    await producer.init();
    const records = PARCELS.map((parcel) => Buffer.from(parcel)).map((key) => ({
      topic: `${prefix}-scans`,
      partition: partitionForKey(key, PARTITIONS),
      key,
      value: null,
    }));
    await producer.commit({ records });
    await producer.close();
  }

  async function numbered(): Promise<[parcel: string, number: number][]> {
    const found: [string, number][] = [];
    const fetcher = backend.fetcher();
    for (let partition = 0; partition < PARTITIONS; partition++) {
      await readToEnd(backend, fetcher, { topic: `${prefix}-numbered`, partition }, 0, ({ records }) => {
        for (const { key, value } of records) found.push([String(key), Number(String(value))]);
      });
    }
    await fetcher.close();
    return found;
  }
});

function run(topology: ReturnType<typeof numberedScans>, backend: StreamsBackend, instanceId: string): TaskManager {
  // The stopped process finally learns that another has replaced it. A real one would end now.
  const onFatal = (): void => undefined;
  return createStreamsApp({ topology, backend, instanceId, logger: silentLogger, now: Date.now, onFatal });
}

function numbersByParcel(numbered: readonly [string, number][]): Record<string, number[]> {
  const numbers: Record<string, number[]> = Object.fromEntries(PARCELS.map((parcel) => [parcel, []]));
  for (const [parcel, number] of numbered) numbers[parcel]?.push(number);
  return numbers;
}

function eachNumberOnce(upTo: number): Record<string, number[]> {
  return Object.fromEntries(PARCELS.map((parcel) => [parcel, Array.from({ length: upTo }, (_, i) => i + 1)]));
}

type Commit = (transaction: Transaction) => ReturnType<ReturnType<StreamsBackend['producer']>['commit']>;

/** The backend with another commit() in its producers. */
function withCommit(backend: StreamsBackend, around: (commit: Commit) => Commit): StreamsBackend {
  const producer: StreamsBackend['producer'] = (transactionalId) => {
    const real = backend.producer(transactionalId);
    return {
      init: () => real.init(),
      close: () => real.close(),
      commit: around((transaction) => real.commit(transaction)),
    };
  };
  return new Proxy(backend, {
    get: (target, property) => {
      if (property === 'producer') return producer;
      const value: unknown = Reflect.get(target, property);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}

type Fault = 'none' | 'before' | 'behind';

function failing(backend: StreamsBackend, faults: Fault[]): StreamsBackend {
  return withCommit(backend, (commit) => async (transaction) => {
    const fault = faults.shift() ?? 'none';
    if (fault === 'before') throw new Error('the connection broke before the commit');
    const offsets = await commit(transaction);
    if (fault === 'behind') throw new Error('the connection broke behind the commit');
    return offsets;
  });
}

/** Where the commits of a process wait while it is stopped. */
function createGate() {
  let opened: () => void = () => undefined;
  let closed: Promise<void> | null = null;
  const commits: Promise<string>[] = [];
  return {
    close: () => {
      closed = new Promise((resolve) => (opened = resolve));
    },
    open: () => {
      closed = null;
      opened();
    },
    waiting: () => (closed ? commits.length : 0),
    held: () => commits.length,
    outcomes: () => Promise.all(commits),
    pass: async <T>(commit: () => Promise<T>): Promise<T> => {
      if (!closed) return commit();
      const result = closed.then(commit);
      commits.push(
        result.then(
          () => 'committed',
          (error: unknown) => (error instanceof Error && 'code' in error ? String(error.code) : String(error)),
        ),
      );
      return result;
    },
  };
}

function gated(backend: StreamsBackend, gate: ReturnType<typeof createGate>): StreamsBackend {
  return withCommit(backend, (commit) => (transaction) => gate.pass(() => commit(transaction)));
}
