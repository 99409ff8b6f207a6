import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { StreamsBackend, Transaction } from '../backend/backend.js';
import { silentLogger } from '../logger.js';
import { type RecordBatch, StreamRecord } from '../record.js';
import { keyValueStore } from '../state/key-value-store.js';
import { jsonSerde } from '../state/state-store.js';
import { createMemoryBackend } from '../testing/memory-backend.js';
import { createTopology } from '../topology/topology.js';
import type { PartitionTask } from './partition-task.js';
import { StateDirectory, StateManager } from './state-directory.js';
import { StreamTask } from './stream-task.js';
import { StreamsProducer } from './streams-producer.js';

const COMMIT_INTERVAL_MS = 500;
/** Records of a transaction that is still open: no consumer can read them. */
const UNSTABLE = 7;
const INPUT = { topic: 'input', partition: 0 };

/** Copies what has a value. */
const copying = createTopology({
  applicationId: 'copying',
  source: INPUT.topic,
  sinks: { output: { topic: 'output', partitioner: 'source-partition' } },
  processor: (context) => ({
    process: ({ key, value }) => {
      if (value !== null) context.forward('output', { key, value });
    },
  }),
});

interface Commit {
  /** The position that went with it. */
  readonly offset: number | undefined;
  readonly outputs: number;
}

let clock: number;
let commits: Commit[];
/** The values, in the order in which they were committed. */
let written: string[];
let task: PartitionTask;

/** Notes the transactions. */
function observedBackend(): StreamsBackend {
  const broker = createMemoryBackend({ topics: { input: 1, other: 1, output: 1 }, now: () => clock });
  const producer: StreamsBackend['producer'] = (transactionalId) => {
    const inner = broker.producer(transactionalId);
    return {
      init: () => inner.init(),
      close: () => inner.close(),
      commit: (transaction: Transaction) => {
        commits.push({ offset: transaction.offsets?.[0]?.offset, outputs: [...transaction.records].length });
        for (const { value } of transaction.records) written.push(String(value));
        return inner.commit(transaction);
      },
    };
  };
  return new Proxy(broker, {
    get: (target, property) => {
      const value: unknown = property === 'producer' ? producer : Reflect.get(target, property);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}

beforeEach(async () => {
  clock = 1_000;
  commits = [];
  written = [];
  task = await openTask(0);
});

async function openTask(
  lingerMs: number,
  more: Partial<ConstructorParameters<typeof StreamTask>[0]> = {},
): Promise<PartitionTask> {
  const backend = observedBackend();
  const opened = new StreamTask({
    topology: copying,
    backend,
    producer: new StreamsProducer({ backend, newTransactionalId: () => 'copying.1', gatherMs: () => 0 }),
    stores: new StateManager([]),
    now: () => clock,
    commitIntervalMs: COMMIT_INTERVAL_MS,
    lingerMs,
    context: {
      ...INPUT,
      leaseValid: () => true,
      confirmOwnership: () => Promise.resolve(),
      committedOffset: () => Promise.resolve({ offset: 0, metadata: '' }),
      commitOffset: () => Promise.resolve(),
      leaveOut: () => Promise.resolve(null),
      fail: (error) => {
        throw error;
      },
    },
    ...more,
  });
  await opened.open();
  return opened;
}

/** The offset of the first batch of a test; others come after it. */
const START = 100;

/** @param more records that the log had after the batch when it was fetched */
function batchOf(from: number, count: number, more: number, value: Buffer | null = Buffer.from('v')): RecordBatch {
  return {
    ...INPUT,
    records: Array.from({ length: count }, (_, n) =>
      StreamRecord.of({ offset: START + from + n, timestamp: clock, key: null, value }),
    ),
    nextOffset: START + from + count,
    highWatermark: START + from + count + more + UNSTABLE,
    lastStableOffset: START + from + count + more,
  };
}

describe('a task that works a backlog off', () => {
  /** Each test begins after the batch that shows that the task works. */
  beforeEach(async () => {
    await task.process(batchOf(-1, 1, 1_000));
    commits = [];
  });

  it('commits several batches in one transaction', async () => {
    await task.process(batchOf(0, 10, 20));
    await task.process(batchOf(10, 10, 10));
    expect(commits).toEqual([]);
    await task.process(batchOf(20, 10, 0));
    expect(commits).toEqual([{ offset: START + 30, outputs: 30 }]);
  });

  it('commits once the interval is over, counted from the first work that is not committed', async () => {
    await task.process(batchOf(0, 10, 1_000));
    clock += COMMIT_INTERVAL_MS;
    await task.process(batchOf(10, 10, 1_000));
    expect(commits).toEqual([]);
    clock += 1;
    await task.process(batchOf(20, 10, 1_000));
    expect(commits).toEqual([{ offset: START + 30, outputs: 30 }]);
    clock += COMMIT_INTERVAL_MS;
    await task.process(batchOf(30, 10, 1_000));
    expect(commits).toHaveLength(1);
  });

  it.each([
    ['nothing more comes', 'idle'],
    ['it is to end', 'suspend'],
  ] as const)('commits what it has put off when %s', async (_when, call) => {
    await task.process(batchOf(0, 10, 5));
    await task[call]?.();
    expect(commits).toEqual([{ offset: START + 10, outputs: 10 }]);
  });

  it('commits nothing once more when nothing has come since', async () => {
    await task.process(batchOf(0, 10, 5));
    await task.idle?.();
    await task.idle?.();
    expect(commits).toHaveLength(1);
  });

  it('shows its position once per second while its input makes no output', async () => {
    await task.process(batchOf(0, 10, 1_000, null));
    clock += 1_000;
    await task.process(batchOf(10, 10, 1_000, null));
    expect(commits).toEqual([]);
    clock += 1;
    await task.process(batchOf(20, 10, 1_000, null));
    expect(commits).toEqual([{ offset: START + 30, outputs: 0 }]);
  });

  it('counts no time in which it had nothing to commit', async () => {
    await task.process(batchOf(0, 10, 1_000, null));
    clock += COMMIT_INTERVAL_MS + 1;
    await task.process(batchOf(10, 10, 1_000));
    expect(commits).toEqual([]);
  });
});

describe('a batch whose records cost much', () => {
  it('is committed in the midst of a slice when its outputs fill a transaction', async () => {
    await task.process(batchOf(0, 10, 0, Buffer.alloc(1024 * 1024)));
    expect(commits).toEqual([
      { offset: START + 5, outputs: 5 },
      { offset: START + 10, outputs: 5 },
    ]);
  });

  it('lets other work of the process take its turn in the midst of a slice', async () => {
    const slices: number[] = [];
    const slow = createTopology({
      applicationId: 'slow',
      source: INPUT.topic,
      sinks: {},
      processor: () => ({
        processSlice: ({ records, forEach }) => {
          slices.push(records.length);
          forEach(() => void (clock += 10));
          return Promise.resolve();
        },
      }),
    });
    task = await openTask(0, { topology: slow });
    await task.process(batchOf(0, 40, 0));
    expect(slices).toEqual([40, 24, 8]);
  });
});

describe('the memory of a batch', () => {
  /** As the fetcher does, which fetches the next batch into it. */
  const reused = (batch: RecordBatch, onRelease: () => void): RecordBatch => ({
    ...batch,
    release: () => {
      for (const { value } of batch.records) value?.fill('?');
      onRelease();
    },
  });

  it('is released once, when everything to be written is copied', async () => {
    let released = 0;
    const count = (): void => {
      released++;
    };
    await task.process(reused(batchOf(0, 10, 1_000, Buffer.from('first')), count));
    await task.process(reused(batchOf(10, 2_500, 0, Buffer.from('second')), count));
    expect(released).toBe(2);
    expect(new Set(written)).toEqual(new Set(['first', 'second']));
  });

  it('is not released when the batch could not be processed', async () => {
    let released = 0;
    const batch = reused(batchOf(0, 10, 0), () => {
      released++;
    });
    const broken = [null as unknown as RecordBatch['records'][number]];
    await expect(task.process({ ...batch, records: broken })).rejects.toThrow(TypeError);
    expect(released).toBe(0);
  });
});

describe('a task that was rebuilt', () => {
  it('commits the first batch separately, so that its position is known if the next one fails', async () => {
    await task.process(batchOf(0, 10, 1_000));
    expect(commits).toEqual([{ offset: START + 10, outputs: 10 }]);
  });
});

describe('a task whose clock was set back', () => {
  it('does not wait until the clock has caught up', async () => {
    await task.process(batchOf(-1, 1, 1_000));
    await task.process(batchOf(0, 10, 1_000));
    clock -= 60_000;
    await task.process(batchOf(10, 10, 1_000));
    expect(commits.at(-1)).toEqual({ offset: START + 20, outputs: 20 });
  });
});

describe('a task that has caught up', () => {
  it('commits every batch at once', async () => {
    await task.process(batchOf(0, 2, 0));
    await task.process(batchOf(2, 1, 0));
    expect(commits).toEqual([
      { offset: START + 2, outputs: 2 },
      { offset: START + 3, outputs: 1 },
    ]);
  });

  it('waits after a small commit, so that the records which come meanwhile share the next one', async () => {
    const lingerMs = 50;
    task = await openTask(lingerMs);
    const startedAt = performance.now();
    await task.process(batchOf(0, 2, 0));
    expect(commits).toEqual([{ offset: START + 2, outputs: 2 }]);
    // Timers may fire up to a millisecond early.
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(lingerMs - 1);
  });

  it('does not wait in a backlog of several sources, whose parts are all small', async () => {
    task = await openTask(60_000, { topology: { ...copying, source: [INPUT.topic, 'other'] } });
    await task.process(batchOf(0, 2, 1_000));
    expect(commits).toHaveLength(1);
  });

  it('neither commits nor waits at each record of a source beside the backlog of another', async () => {
    task = await openTask(60_000, { topology: { ...copying, source: ['input', 'other'] } });
    await task.process(batchOf(-1, 1, 1_000));
    commits = [];
    const ends = { nextOffset: 1, highWatermark: 1, lastStableOffset: 1 };
    await task.process({ ...batchOf(0, 1, 0), topic: 'other', ...ends });
    await task.process(batchOf(0, 1, 999));
    expect(commits).toEqual([]);
    await task.suspend?.();
    expect(commits).toEqual([{ offset: START + 1, outputs: 2 }]);
  });

  it('does not wait any longer once its partition is revoked', async () => {
    task = await openTask(3_600_000);
    const processed = task.process(batchOf(0, 2, 0));
    task.revoke?.();
    await processed;
    expect(commits).toEqual([{ offset: START + 2, outputs: 2 }]);
  });
});

describe('a task whose processor waits for an answer that does not come', () => {
  let answer: () => void;
  let backend: StreamsBackend;
  let directory: StateDirectory;

  const asking = createTopology({
    applicationId: 'asking',
    source: INPUT.topic,
    stores: { answers: keyValueStore({ changelogTopic: 'answers', serde: jsonSerde<string>() }) },
    sinks: {},
    processor: (context) => {
      const answers = context.store('answers');
      return {
        processSlice: async ({ forEach }) => {
          await new Promise<void>((resolve) => (answer = resolve));
          answers.put('question', 'answer');
          forEach(() => undefined);
        },
      };
    },
  });

  async function openAsking(): Promise<PartitionTask> {
    return openTask(0, { topology: asking, backend, stores: directory.of(0) });
  }

  beforeEach(async () => {
    backend = createMemoryBackend({ topics: { input: 1, answers: 1 }, now: () => clock });
    const options = { backend, stateDir: undefined, checkpointIntervalMs: 1, logger: silentLogger, now: () => clock };
    directory = new StateDirectory({ topology: asking, ...options });
    task = await openAsking();
  });

  it('shows it among what is stalled until it is closed', async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate'] });
    void task.process(batchOf(0, 1, 0)).catch(() => undefined);
    jest.advanceTimersByTime(5_000);
    expect(backend.stalls.all()).toMatchObject([{ kind: 'processor', name: 'input-0' }]);
    await task.close();
    expect(backend.stalls.all()).toEqual([]);
    jest.useRealTimers();
  });

  it('is closed without that answer in the stores of the next task', async () => {
    const processed = task.process(batchOf(0, 1, 0)).catch((error: unknown) => error);
    await task.close();
    await openAsking();
    answer();
    expect(await processed).toMatchObject({ message: expect.stringContaining('The task was closed') });
    expect(directory.of(0).byName.get('answers')?.changeCount).toBe(0);
  });

  it('keeps its stores for the next task when it does not wait', async () => {
    const before = directory.of(0);
    await task.close();
    expect(directory.of(0)).toBe(before);
  });
});
