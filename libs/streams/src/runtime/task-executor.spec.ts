import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { flushed, until } from '../../../../test/support/until.js';
import { StreamsError } from '../errors.js';
import { silentLogger } from '../logger.js';
import { createMemoryBackend } from '../testing/memory-backend.js';
import { createTaskManager, type TaskManager, type TaskManagerOptions } from './task-manager.js';

const INPUT = { topic: 'input', partition: 0 };

let broker: ReturnType<typeof createMemoryBackend>;
let manager: TaskManager;
let processed: string[];
let fatal: Error[];
let logged: string[];

beforeEach(() => {
  broker = createMemoryBackend({ topics: { input: 1 }, now: Date.now });
  [processed, fatal, logged] = [[], [], []];
  for (const value of ['a', 'poison', 'b']) broker.append(INPUT, { key: null, value: Buffer.from(value) });
});

afterEach(() => {
  jest.useRealTimers();
  return manager.stop();
});

async function start(options: Partial<TaskManagerOptions>): Promise<void> {
  manager = createTaskManager({
    backend: broker,
    groupId: 'group',
    topics: ['input'],
    createTask: (context) => ({
      open: async () => ({ position: (await context.committedOffset())?.offset ?? 0 }),
      process: async ({ records, nextOffset }) => {
        const values = records.map(({ value }) => String(value));
        if (values.includes('poison')) throw new TypeError('cannot process this');
        processed.push(...values);
        await context.commitOffset(nextOffset);
      },
      close: () => Promise.resolve(),
    }),
    logger: { ...silentLogger, error: (event) => logged.push(event) },
    now: Date.now,
    onFatal: (error) => fatal.push(error),
    ...options,
  });
  await manager.start();
}

describe('an executor whose callbacks throw', () => {
  it('ends the process as with the result fail, and parks the partition, when the exception handler throws', async () => {
    await start({
      processingExceptionHandler: () => {
        throw new Error('a bug');
      },
    });
    await until(() => manager.tasks()[0]?.state === 'parked');
    expect(fatal).toEqual([
      expect.objectContaining({ code: 'PROCESSING_FAILED', message: expect.stringContaining('cannot process') }),
    ]);
    expect(logged).toEqual(['exception_handler_failed', 'partition_parked']);
  });

  it.each([
    ['a word that it may not return', 'skip', "'skip'"],
    ['nothing', undefined, 'undefined'],
    ['a promise', Promise.resolve('dead-letter'), "Promise { 'dead-letter' }"],
  ])('parks the partition and says so when the exception handler returns %s', async (_, result, shown) => {
    await start({ processingExceptionHandler: () => result as 'park' });
    await until(() => manager.tasks()[0]?.state === 'parked');
    const wrong = `The processingExceptionHandler returned ${shown}: it must return one of fail, park, dead-letter.`;
    expect(manager.tasks()[0]?.parked?.message).toMatch(/cannot process this/);
    expect(manager.tasks()[0]?.parked?.message).toContain(wrong);
    expect([logged, fatal]).toEqual([['exception_handler_failed', 'partition_parked'], []]);
  });

  it('hands a record to the dead-letter queue again when that rejects as fetch() does, and blames no other', async () => {
    const kept: number[] = [];
    await start({
      processingExceptionHandler: () => 'dead-letter',
      deadLetterQueue: (_, { offset }) => {
        kept.push(offset);
        return kept.length < 3 ? Promise.reject(new TypeError('fetch failed')) : Promise.resolve();
      },
    });
    await until(() => processed.length === 2);
    expect([processed, kept, logged]).toEqual([['a', 'b'], [1, 1, 1], []]);
  });

  it('parks the partition when no task can be created, and creates one on a retry', async () => {
    let attempts = 0;
    await start({
      createTask: () => {
        if (++attempts === 1) throw new TypeError('a bug');
        return {
          open: () => Promise.resolve({ position: 0 }),
          process: () => Promise.resolve(),
          close: () => Promise.resolve(),
        };
      },
    });
    await until(() => manager.tasks()[0]?.state === 'parked');
    expect(manager.tasks()[0]?.parked).toMatchObject({ code: 'PROCESSING_FAILED', offset: null });
    expect(manager.command(INPUT, 'retry')).toBeNull();
    await until(() => attempts === 2);
  });
});

describe('a batch that does not end', () => {
  it('shows in the status of its task until it fails (R-40)', async () => {
    let fail: (error: Error) => void = () => undefined;
    const process = () => new Promise<void>((_, reject) => (fail = reject));
    const createTask = () => ({
      open: () => Promise.resolve({ position: 0 }),
      process,
      close: () => Promise.resolve(),
    });
    await start({ now: () => 70_000, createTask });
    await until(() => manager.tasks()[0]?.batchSince === 70_000);
    fail(new StreamsError('CORRUPT_STATE', 'no'));
    await until(() => manager.tasks()[0]?.state === 'parked');
    expect(manager.tasks()[0]?.batchSince).toBeNull();
  });
});

describe('the log', () => {
  it('has the stack of the exception that parks a partition, and the records that are left out', async () => {
    const entries: [string, unknown][] = [];
    const log = (event: string, fields: unknown): void => void entries.push([event, fields]);
    await start({
      logger: { ...silentLogger, warn: log, error: log },
      deadLetterQueue: () => Promise.resolve(),
    });
    await until(() => manager.tasks()[0]?.state === 'parked');
    manager.command(INPUT, { skip: 1 });
    await until(() => processed.length === 2);
    const of = (name: string): unknown[] => entries.flatMap(([event, fields]) => (event === name ? [fields] : []));
    const failure = { partition: 'input-0', offset: 1, reason: 'PROCESSING_FAILED' };
    const stack = expect.stringMatching(/TypeError: cannot process this\n.*task-executor\.spec/);
    expect(of('partition_parked')).toEqual([expect.objectContaining({ ...failure, stack })]);
    expect(of('record_left_out')).toEqual([expect.objectContaining(failure)]);
  });
});

describe('a command to skip a record', () => {
  it('is refused if another record is parked by now, so that no record is skipped unseen (R-45)', async () => {
    broker.append(INPUT, { key: null, value: Buffer.from('poison') });
    const kept: number[] = [];
    await start({ deadLetterQueue: (_, { offset }) => Promise.resolve(void kept.push(offset)) });
    const parkedAt = (): number | null | undefined => manager.tasks()[0]?.parked?.offset;
    await until(() => parkedAt() === 1);
    expect(manager.command(INPUT, { skip: 1 })).toBeNull();
    await until(() => parkedAt() === 3);
    expect(manager.command(INPUT, { skip: 1 })).toBe('It is parked at offset 3 by now, not at offset 1.');
    expect(manager.command(INPUT, { skip: 3 })).toBeNull();
    await until(() => manager.tasks()[0]?.parked === null);
    expect([processed, kept]).toEqual([
      ['a', 'b'],
      [1, 3],
    ]);
  });
});

describe('an executor whose position is out of the range of a broker', () => {
  it('goes on by itself after a former leader that has just resumed, and lacks what the others have', async () => {
    const open = broker.fetcher.bind(broker);
    let answers = 0;
    broker.fetcher = () => {
      const fetcher = open();
      return {
        close: () => fetcher.close(),
        open: (partition, position) => {
          if (++answers > 5) return fetcher.open(partition, position);
          const next = () => Promise.reject(new StreamsError('OFFSET_OUT_OF_RANGE', 'not here'));
          return { next, close: () => undefined };
        },
      };
    };
    await start({
      createTask: () => ({
        open: () => Promise.resolve({ position: 2 }),
        process: ({ records }) => {
          processed.push(...records.map(({ value }) => String(value)));
          return Promise.resolve();
        },
        close: () => Promise.resolve(),
      }),
    });
    await until(() => processed.length > 0);
    expect([processed, answers, logged]).toEqual([['b'], 6, []]);
  });
});

/** Lets time pass for what waits, which does its work in between. */
async function pass(ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 100) {
    jest.advanceTimersByTime(100);
    await flushed();
  }
}

describe('a task in the course of time', () => {
  beforeEach(() => {
    jest.useFakeTimers({
      doNotFake: ['nextTick', 'setImmediate', 'setInterval', 'queueMicrotask', 'Date', 'performance'],
    });
  });

  it('is parked when 30 rebuilds in a row have failed, and not before (R-45)', async () => {
    let attempts = 0;
    await start({
      createTask: () => ({
        open: () => Promise.reject(new Error(`attempt ${String(++attempts)} has failed`)),
        process: () => Promise.resolve(),
        close: () => Promise.resolve(),
      }),
    });
    while (attempts < 30) await pass(100);
    await pass(1_000);
    expect([attempts, manager.tasks()[0]?.parked]).toEqual([30, null]);
    while (attempts < 31) await pass(100);
    expect(manager.tasks()[0]?.parked).toMatchObject({ code: 'TASK_STUCK', offset: null });
    expect(manager.tasks()[0]?.parked?.message).toContain('attempt 31 has failed');
  });

  it('is no longer parked once it has run for some seconds, also without a record (R-45)', async () => {
    let isLost = true;
    await start({
      createTask: () => ({
        open: () =>
          isLost ? Promise.reject(new StreamsError('POSITION_LOST', 'lost')) : Promise.resolve({ position: 3 }),
        process: () => Promise.resolve(),
        close: () => Promise.resolve(),
      }),
    });
    await pass(500);
    expect(manager.tasks()[0]?.state).toBe('parked');
    isLost = false;
    manager.command(INPUT, 'retry');
    await pass(5_000);
    expect(manager.tasks()[0]?.state).toBe('parked');
    await pass(15_000);
    expect(manager.tasks()[0]).toMatchObject({ state: 'running', parked: null });
  });
});

describe('a task that is built again', () => {
  it('is not called stuck for failures that each were over soon, however many there are (R-45)', async () => {
    const failed = new Set<number>();
    broker = createMemoryBackend({ topics: { input: 1 }, now: Date.now });
    await start({
      createTask: (context) => ({
        open: async () => ({ position: (await context.committedOffset())?.offset ?? 0 }),
        process: async ({ records, nextOffset }) => {
          const isFirstTry = !failed.has(nextOffset);
          failed.add(nextOffset);
          if (isFirstTry) throw new Error('a broker restarts');
          processed.push(...records.map(({ value }) => String(value)));
          await context.commitOffset(nextOffset);
        },
        close: () => Promise.resolve(),
      }),
    });
    for (let count = 1; count <= 33; count++) {
      broker.append(INPUT, { key: null, value: Buffer.from(String(count)) });
      await until(() => processed.length === count);
    }
    expect(logged).toEqual([]);
  });

  it('asks for its partition under the generation that the group has by then', async () => {
    let isBroken = false;
    await start({
      topics: ['input', 'other'],
      backend: (broker = createMemoryBackend({ topics: { input: 1, other: 1 }, now: Date.now })),
      createTask: () => ({
        open: () => Promise.resolve({ position: 0 }),
        process: ({ records }) => {
          if (isBroken) return Promise.reject(new Error('a broker restarts'));
          processed.push(...records.map(({ value }) => String(value)));
          return Promise.resolve();
        },
        close: () => Promise.resolve(),
      }),
    });
    await until(() => manager.ready());
    await broker
      .group({ groupId: 'group', topics: ['input', 'other'] })
      .join({ assigned: () => Promise.resolve(), failed: () => undefined });
    await until(() => manager.tasks().length === 1 && manager.ready());
    const [own] = manager.tasks();
    if (!own) throw new Error('It has no task.');
    isBroken = true;
    broker.append(own, { key: null, value: Buffer.from('a') });
    await until(() => !manager.ready());
    isBroken = false;
    await until(() => processed.length > 0);
    expect(processed).toEqual(['a']);
  });
});

describe('a parked partition', () => {
  it('is parked since its first failure, and may be moved again after each attempt that did not help', async () => {
    let clock = 1_000;
    let attempts = 0;
    await start({
      now: () => clock,
      createTask: () => ({
        open: () => {
          attempts++;
          return Promise.reject(new StreamsError('POSITION_LOST', 'the position is lost'));
        },
        process: () => Promise.resolve(),
        close: () => Promise.resolve(),
      }),
    });
    for (let count = 1; count <= 3; count++) {
      await until(() => attempts === count && manager.tasks()[0]?.parked !== null);
      await until(() => manager.command(INPUT, { seek: 'latest' }) === null);
      clock += 1_000;
    }
    await until(() => attempts === 4);
    expect(manager.tasks()[0]?.parked).toMatchObject({ code: 'POSITION_LOST', since: 1_000 });
  });

  it('is tried again soon when it fails for another reason than before', async () => {
    let attempts = 0;
    await start({
      now: () => 0,
      createTask: () => ({
        open: () => Promise.reject(new StreamsError(++attempts > 4 ? 'CORRUPT_STATE' : 'POSITION_LOST', 'it fails')),
        process: () => Promise.resolve(),
        close: () => Promise.resolve(),
      }),
    });
    const retryAt: (number | null | undefined)[] = [];
    for (let count = 1; count <= 5; count++) {
      await until(() => {
        if (attempts < count) manager.command(INPUT, 'retry');
        return attempts === count;
      });
      await until(() => manager.tasks()[0]?.parked?.code === (count > 4 ? 'CORRUPT_STATE' : 'POSITION_LOST'));
      retryAt.push(manager.tasks()[0]?.parked?.nextRetryAt);
    }
    expect([retryAt.at(-2), retryAt.at(-1)]).toEqual([8_000, 1_000]);
  });

  it('is not moved by a command that came while it recovered by itself, not even at its next failure', async () => {
    const opened: (number | undefined)[] = [];
    let recover: () => void = () => undefined;
    let isLost = true;
    let isBroken = false;
    await start({
      createTask: (context) => ({
        open: async () => {
          if (isLost) throw new StreamsError('POSITION_LOST', 'the position is lost');
          if (opened.length === 0) await new Promise<void>((resolve) => (recover = resolve));
          opened.push((await context.committedOffset())?.offset);
          return { position: opened.at(-1) ?? 0 };
        },
        process: async ({ nextOffset }) => {
          if (isBroken) throw new Error('a broker restarts');
          await context.commitOffset(nextOffset);
        },
        close: () => Promise.resolve(),
      }),
    });
    await until(() => manager.tasks()[0]?.state === 'parked');
    isLost = false;
    expect(manager.command(INPUT, 'retry')).toBeNull();
    await flushed();
    await until(() => manager.command(INPUT, { seek: 'latest' }) === null);
    recover();
    await until(() => manager.tasks()[0]?.parked === null);
    isBroken = true;
    for (const value of ['c', 'd']) broker.append(INPUT, { key: null, value: Buffer.from(value) });
    await until(() => opened.length === 2);
    expect(opened).toEqual([undefined, 3]);
  });
});
