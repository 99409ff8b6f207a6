import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { until } from '../../../../test/support/until.js';
import { StreamsError } from '../errors.js';
import { silentLogger } from '../logger.js';
import type { StreamRecord } from '../record.js';
import { createMemoryBackend } from '../testing/memory-backend.js';
import { createTopology } from '../topology/topology.js';
import { type ExceptionHandlers } from './parking.js';
import { createStreamsApp, type StreamsAppOptions } from './streams-app.js';
import { createTaskManager, type TaskManager } from './task-manager.js';
import { changeFetched, refuseWrites } from './testing/faulty-backend.js';

const POISONED = { topic: 'input', partition: 2 };

let broker: ReturnType<typeof createMemoryBackend>;
let apps: TaskManager[];
let fatal: Error[];
let logged: { event: string; fields: object | undefined }[];
let isFixed: boolean;

beforeEach(() => {
  broker = createMemoryBackend({ topics: { input: 4, output: 4 }, now: Date.now });
  apps = [];
  fatal = [];
  logged = [];
  isFixed = false;
});

afterEach(() => Promise.all(apps.map((app) => app.stop())));

const echo = createTopology({
  applicationId: 'echo',
  source: 'input',
  sinks: { output: { topic: 'output', partitioner: 'source-partition' } },
  processor: (context) => ({
    process: ({ key, value }) => {
      context.forward('output', { key, value });
      if (String(value) === 'poison' && !isFixed) throw new Error('cannot process this');
    },
  }),
});

/** Forwards every record, and does something by time alone. */
function punctuating(punctuate: (forward: (value: string) => void) => void) {
  return createTopology({
    ...echo,
    processor: (context) => ({
      process: ({ key, value }) => context.forward('output', { key, value }),
      punctuate: () => punctuate((value) => context.forward('output', { key: null, value: Buffer.from(value) })),
    }),
  });
}

async function start(more: ExceptionHandlers & Partial<StreamsAppOptions> = {}): Promise<TaskManager> {
  const log = (event: string, fields?: object): void => void logged.push({ event, fields });
  const app = createStreamsApp({
    topology: echo,
    backend: broker,
    logger: { ...silentLogger, error: log, info: log },
    now: Date.now,
    onFatal: (error) => fatal.push(error),
    ...more,
  });
  apps.push(app);
  await app.start();
  return app;
}

function append(partition: number, ...values: string[]): void {
  for (const value of values)
    broker.append({ topic: 'input', partition }, { key: Buffer.from('k'), value: Buffer.from(value) });
}

async function outputs(partition: number): Promise<string[]> {
  const fetcher = broker.fetcher();
  if ((await broker.endOffset({ topic: 'output', partition })) === 0) return [];
  const { records } = await fetcher.open({ topic: 'output', partition }, 0).next();
  return records.map(({ value }) => String(value));
}

function parked(app: TaskManager) {
  return app.tasks().filter(({ state }) => state === 'parked');
}

/** Takes the fault away, and gives the command to try again until the condition holds. */
async function fix(app: TaskManager, isOver: () => Promise<boolean>): Promise<void> {
  isFixed = true;
  await until(() => {
    for (const { topic, partition } of parked(app)) app.command({ topic, partition }, 'retry');
    return isOver();
  });
}

/** All four partitions have records; partition 2 has a poisoned one at offset 2. */
async function startPoisoned(more: Parameters<typeof start>[0] = {}): Promise<TaskManager> {
  for (const partition of [0, 1, 3]) append(partition, 'a', 'b');
  append(POISONED.partition, 'a', 'b', 'poison', 'c');
  return start(more);
}

describe('one partition of four whose record makes the processor throw (R-45)', () => {
  it('is parked with its reason, commits what comes before the record, and lets the others go on', async () => {
    const app = await startPoisoned();
    await until(() => Promise.resolve(parked(app).length === 1));
    for (const partition of [0, 1, 3]) append(partition, 'c');
    for (const partition of [0, 1, 3]) await until(async () => (await outputs(partition)).length === 3);
    expect(parked(app)).toEqual([
      {
        ...POISONED,
        state: 'parked',
        lagRecords: null,
        batchSince: null,
        parked: {
          code: 'PROCESSING_FAILED',
          offset: 2,
          message: 'cannot process this',
          since: expect.any(Number),
          nextRetryAt: null,
        },
      },
    ]);
    expect(await outputs(POISONED.partition)).toEqual(['a', 'b']);
    expect(logged.filter(({ event }) => event === 'partition_parked')).toHaveLength(1);
    expect([app.ready(), fatal]).toEqual([true, []]);
  });

  it('goes on by a retry once the cause is gone, and repeats nothing', async () => {
    const app = await startPoisoned();
    await until(() => Promise.resolve(parked(app).length === 1));
    expect(app.command(POISONED, 'retry')).toBeNull();
    isFixed = true;
    await until(async () => {
      app.command(POISONED, 'retry');
      return Promise.resolve(parked(app).length === 0);
    });
    await until(async () => (await outputs(POISONED.partition)).length === 4);
    expect(await outputs(POISONED.partition)).toEqual(['a', 'b', 'poison', 'c']);
    expect(app.command(POISONED, 'retry')).toBe('It is not parked.');
  });

  it('continues after the record on a skip, which hands it to the dead-letter queue', async () => {
    const kept: StreamRecord[] = [];
    const app = await startPoisoned({
      deadLetterQueue: (_, record) => {
        kept.push(record);
        return Promise.resolve();
      },
    });
    await until(() => Promise.resolve(parked(app).length === 1));
    expect(app.command(POISONED, 'skip')).toBeNull();
    await until(async () => (await outputs(POISONED.partition)).length === 3);
    expect(await outputs(POISONED.partition)).toEqual(['a', 'b', 'c']);
    expect(kept.map(({ offset, value }) => [offset, String(value)])).toEqual([[2, 'poison']]);
  });

  it('continues after a skip in transactions of many records again', async () => {
    const many = Array.from({ length: 400 }, () => 'many');
    append(POISONED.partition, 'poison', ...many);
    const app = await start({ deadLetterQueue: () => Promise.resolve() });
    await until(() => Promise.resolve(parked(app).length === 1));
    app.command(POISONED, 'skip');
    await until(async () => (await outputs(POISONED.partition)).length === many.length);
    const markers = (await broker.endOffset({ topic: 'output', partition: POISONED.partition })) - many.length;
    expect(markers).toBeLessThan(10);
    await until(() => Promise.resolve(parked(app).length === 0));
  });

  it('keeps a skip for a task whose position is still before the record when it is built again', async () => {
    append(POISONED.partition, 'a', 'poison', 'b');
    const handled: string[] = [];
    let fail: (error: Error) => void = () => undefined;
    const manager = createTaskManager({
      backend: broker,
      groupId: 'late',
      topics: ['input'],
      logger: silentLogger,
      now: Date.now,
      deadLetterQueue: () => Promise.resolve(),
      createTask: (context) => ({
        // As that of a sender whose oldest delivery waits for a retry.
        open: () => {
          if (context.partition === POISONED.partition) fail = (error) => context.fail(error);
          return Promise.resolve({ position: 0 });
        },
        process: ({ records }) => {
          handled.push(...records.map(({ value }) => String(value)));
          return records.some(({ value }) => String(value) === 'poison')
            ? Promise.reject(new TypeError('a bug'))
            : Promise.resolve();
        },
        close: () => Promise.resolve(),
      }),
      onFatal: (error) => fatal.push(error),
    });
    apps.push(manager);
    await manager.start();
    await until(() => Promise.resolve(parked(manager).length === 1));
    manager.command(POISONED, 'skip');
    append(POISONED.partition, 'c');
    await until(() => Promise.resolve(handled.includes('c')));
    append(POISONED.partition, 'd');
    await until(() => Promise.resolve(handled.includes('d')));
    handled.length = 0;
    fail(new Error('the broker went away'));
    await until(() => Promise.resolve(handled.includes('d')));
    expect(handled).toEqual(['a', 'b', 'c', 'd']);
    expect(parked(manager)).toEqual([]);
  });

  it('refuses a skip without a queue, and commands for partitions of other processes', async () => {
    const app = await startPoisoned();
    await until(() => Promise.resolve(parked(app).length === 1));
    expect(app.command(POISONED, 'skip')).toMatch('no dead-letter queue');
    expect(app.command({ topic: 'input', partition: 9 }, 'retry')).toBeUndefined();
  });

  it('is parked again by the next owner', async () => {
    const first = await startPoisoned();
    await until(() => Promise.resolve(parked(first).length === 1));
    await first.stop();
    const second = await start();
    await until(() => Promise.resolve(parked(second).length === 1));
    expect(parked(second)[0]?.parked?.offset).toBe(2);
  });
});

describe('exception handlers (KIP-1034)', () => {
  it('write every record that fails to the dead-letter queue without a command, and park nothing', async () => {
    const kept: number[] = [];
    append(0, 'a', 'poison', 'b', 'poison', 'poison', 'poison');
    const app = await start({
      processingExceptionHandler: () => 'dead-letter',
      deadLetterQueue: (_, { offset }) => {
        kept.push(offset);
        return Promise.resolve();
      },
    });
    await until(async () => (await outputs(0)).length === 2);
    await until(() => Promise.resolve(kept.includes(5)));
    expect([await outputs(0), kept]).toEqual([
      ['a', 'b'],
      [1, 3, 4, 5],
    ]);
    expect(parked(app)).toEqual([]);
  });

  it('leave later batches as they were fetched, once the record is behind', async () => {
    let released = 0;
    changeFetched(broker, (batch) => ({ ...batch, release: () => (released += 1) }));
    append(0, 'poison', 'a');
    await start({ processingExceptionHandler: () => 'dead-letter', deadLetterQueue: () => Promise.resolve() });
    await until(async () => (await outputs(0)).length === 1);
    append(0, 'b');
    await until(async () => (await outputs(0)).length === 2);
    expect(released).toBe(1);
  });

  it('end the process where they say so', async () => {
    await startPoisoned({ processingExceptionHandler: () => 'fail' });
    await until(() => Promise.resolve(fatal.length > 0));
    expect(fatal[0]).toMatchObject({ code: 'PROCESSING_FAILED', offset: 2 });
  });
});

describe('an output that the broker refuses', () => {
  const MESSAGE_TOO_LARGE = 10;
  const INVALID_RECORD = 87;

  it.each([
    ['RECORD_TOO_LARGE', MESSAGE_TOO_LARGE],
    ['INVALID_RECORD', INVALID_RECORD],
  ])('with %s is found, and its record goes where the production handler says', async (code, kafkaCode) => {
    refuseWrites(broker, kafkaCode);
    const kept: [number, string][] = [];
    append(0, 'a', 'b', 'refused', 'c');
    await start({
      productionExceptionHandler: () => 'dead-letter',
      deadLetterQueue: (_, { offset }, reason) => Promise.resolve(void kept.push([offset, reason.code])),
    });
    await until(async () => (await outputs(0)).length === 3);
    expect([await outputs(0), kept]).toEqual([['a', 'b', 'c'], [[2, code]]]);
  });

  it('blames no record when it may be one of punctuate()', async () => {
    refuseWrites(broker, MESSAGE_TOO_LARGE);
    const kept: number[] = [];
    append(0, 'a', 'b');
    const app = await start({
      topology: punctuating((forward) => forward(isFixed ? 'due' : 'refused')),
      productionExceptionHandler: () => 'dead-letter',
      deadLetterQueue: (_, { offset }) => Promise.resolve(void kept.push(offset)),
    });
    await until(() => Promise.resolve(parked(app).length > 0));
    expect(parked(app)[0]?.parked).toMatchObject({ code: 'PUNCTUATION_FAILED', offset: null });
    await fix(app, async () => (await outputs(0)).includes('b'));
    expect([(await outputs(0)).slice(0, 3), kept]).toEqual([['a', 'b', 'due'], []]);
  });
});

describe('a failure that no record is the cause of', () => {
  it('parks the partition until it is gone, and blames none of its records, when punctuate() throws', async () => {
    const kept: number[] = [];
    append(0, 'a', 'b');
    const app = await start({
      topology: punctuating(() => {
        if (!isFixed) throw new TypeError('cannot do this in time');
      }),
      processingExceptionHandler: () => 'dead-letter',
      deadLetterQueue: (_, { offset }) => Promise.resolve(void kept.push(offset)),
    });
    await until(() => Promise.resolve(parked(app).length > 0));
    expect(parked(app)[0]?.parked).toMatchObject({ code: 'PUNCTUATION_FAILED', offset: null });
    await fix(app, async () => (await outputs(0)).length === 2);
    expect([await outputs(0), kept]).toEqual([['a', 'b'], []]);
  });

  it('is tried again after waits that the randomness of the application spreads', async () => {
    append(0, 'a');
    const app = await start({
      topology: punctuating(() => {
        throw new TypeError('cannot do this in time');
      }),
      now: () => 1_000,
      random: () => 0.5,
    });
    await until(() => Promise.resolve(parked(app).length > 0));
    // An eighth sooner than a second, or than two if it has been tried once.
    expect([1_875, 2_750]).toContain(parked(app)[0]?.parked?.nextRetryAt);
  });

  it('is tried again, and blames no record, when what processSlice() waits for fails', async () => {
    const kept: number[] = [];
    let failures = 0;
    append(0, 'a', 'b');
    await start({
      topology: createTopology({
        ...echo,
        processor: (context) => ({
          processSlice: async ({ forEach }) => {
            // As fetch() does without a network.
            if (failures++ < 3) throw new TypeError('fetch failed');
            forEach(({ key, value }) => context.forward('output', { key, value }));
            await Promise.resolve();
          },
        }),
      }),
      processingExceptionHandler: () => 'dead-letter',
      deadLetterQueue: (_, { offset }) => Promise.resolve(void kept.push(offset)),
    });
    await until(async () => (await outputs(0)).length === 2);
    expect([await outputs(0), kept, logged.filter(({ event }) => event === 'partition_parked')]).toEqual([
      ['a', 'b'],
      [],
      [],
    ]);
  });

  it('keeps the code of what is wrong with its state', async () => {
    const app = await start({
      topology: punctuating(() => {
        throw new StreamsError('CORRUPT_STATE', 'A value cannot be read.');
      }),
    });
    append(0, 'a');
    await until(() => Promise.resolve(parked(app).length > 0));
    expect(parked(app)[0]?.parked).toMatchObject({ code: 'CORRUPT_STATE', offset: null });
  });

  it('is not blamed on a record that was committed while the one that fails was searched for', async () => {
    append(POISONED.partition, 'a', 'b', 'poison', 'c');
    let fetches = 0;
    changeFetched(broker, (batch) => {
      if (++fetches > 2) throw new TypeError('cannot be decoded');
      // All records at first, which begins the search; then the first of them alone.
      return fetches === 1 ? batch : { ...batch, records: batch.records.slice(0, 1), nextOffset: 1 };
    });
    const app = await start();
    await until(async () => (await outputs(POISONED.partition)).length === 1);
    append(POISONED.partition, 'd');
    await until(() => Promise.resolve(parked(app).length === 1));
    expect(parked(app)[0]?.parked).toMatchObject({ code: 'PROCESSING_FAILED', offset: null });
  });
});
