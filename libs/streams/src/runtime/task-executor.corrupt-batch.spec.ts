import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { until } from '../../../../test/support/until.js';
import { UndecodedBatch } from '../errors.js';
import { silentLogger } from '../logger.js';
import { type RecordBatch, slicesOf, StreamRecord } from '../record.js';
import { createMemoryBackend } from '../testing/memory-backend.js';
import type { ExceptionHandlers } from './parking.js';
import type { TaskContext } from './partition-task.js';
import { createTaskManager, type TaskManager } from './task-manager.js';

const INPUT = { topic: 'input', partition: 0 };
/** Offsets of the records that cannot be decoded. */
const [FIRST, LAST] = [3, 4];

let broker: ReturnType<typeof createMemoryBackend>;
let managers: TaskManager[];
let processed: string[];
let code: 'CORRUPT_BATCH' | 'CODEC_MISSING';
let hasReadAgain: boolean;
let kept: [StreamRecord, string][];

/** As a fetch does that brings the batch in the middle of others. */
function corrupted(batch: RecordBatch, partition: string): RecordBatch {
  const { topic, records, nextOffset, highWatermark, lastStableOffset } = batch;
  const from = records[0]?.offset ?? nextOffset;
  if (from > LAST || nextOffset <= FIRST) return batch;
  const offset = Math.max(from, FIRST);
  const fail = () =>
    new UndecodedBatch(code, 'no batch', { partition, offset, nextOffset: LAST + 1, timestamp: 7 }, null);
  return {
    topic,
    partition: batch.partition,
    nextOffset,
    highWatermark,
    lastStableOffset,
    get records(): never {
      throw fail();
    },
    *slices() {
      if (from < offset) yield records.filter((record) => record.offset < offset);
      throw fail();
    },
  };
}

function corruptInput(partition: string): void {
  const open = broker.fetcher.bind(broker);
  broker.fetcher = () => {
    const fetcher = open();
    return {
      close: () => fetcher.close(),
      open: (input, position) => {
        const feed = fetcher.open(input, position);
        return { close: () => feed.close(), next: async () => corrupted(await feed.next(), partition) };
      },
    };
  };
}

async function start(
  handlers: ExceptionHandlers = {},
  readAgain: (context: TaskContext) => Promise<void> = () => Promise.resolve(),
  afterBatch: (context: TaskContext) => void = () => undefined,
): Promise<TaskManager> {
  const manager = createTaskManager({
    backend: broker,
    groupId: 'group',
    topics: ['input'],
    createTask: (context) => ({
      open: async () => ({ position: (await context.committedOffset())?.offset ?? 0 }),
      idle: async () => {
        if (!hasReadAgain) await readAgain(context);
        hasReadAgain = true;
      },
      process: async ({ records, nextOffset }) => {
        processed.push(...records.map(({ value }) => String(value)));
        await context.commitOffset(nextOffset);
        afterBatch(context);
      },
      close: () => Promise.resolve(),
    }),
    deadLetterQueue: (_, record, { message }) => Promise.resolve(void kept.push([record, message])),
    ...handlers,
    logger: silentLogger,
    now: Date.now,
    onFatal: () => undefined,
  });
  managers.push(manager);
  await manager.start();
  return manager;
}

beforeEach(() => {
  broker = createMemoryBackend({ topics: { input: 1 }, now: Date.now });
  [managers, processed, kept, code, hasReadAgain] = [[], [], [], 'CORRUPT_BATCH', false];
  for (const value of ['a', 'b', 'c', 'bad', 'bad', 'd'])
    broker.append(INPUT, { key: null, value: Buffer.from(value) });
});

afterEach(() => Promise.all(managers.map((manager) => manager.stop())));

describe('a batch that cannot be decoded (R-45)', () => {
  const leftOut = [[StreamRecord.of({ offset: FIRST, timestamp: 7, key: null, value: null }), 'no batch']];

  it('parks its partition after the batches before it, and is left out as one on a skip', async () => {
    corruptInput('input-0');
    const manager = await start();
    await until(() => manager.tasks()[0]?.state === 'parked');
    expect(manager.tasks()[0]?.parked).toMatchObject({ code: 'CORRUPT_BATCH', offset: FIRST });
    expect(processed).toEqual(['a', 'b', 'c']);
    expect(manager.command(INPUT, 'skip')).toBeNull();
    await until(() => processed.length === 4);
    expect([processed, kept]).toEqual([['a', 'b', 'c', 'd'], leftOut]);
    await until(() => manager.tasks()[0]?.state === 'running');
  });

  it('is left out without a command where the deserialization handler says so', async () => {
    corruptInput('input-0');
    await start({ deserializationExceptionHandler: () => 'dead-letter' });
    await until(() => processed.length === 4);
    expect([processed, kept]).toEqual([['a', 'b', 'c', 'd'], leftOut]);
  });

  it('blames no record of the input when it is of another partition that the task reads', async () => {
    corruptInput('lookup-3');
    const manager = await start({ deserializationExceptionHandler: () => 'dead-letter' });
    await until(() => manager.tasks()[0]?.state === 'parked');
    expect(manager.tasks()[0]?.parked).toMatchObject({ code: 'CORRUPT_BATCH', offset: null });
    expect([manager.command(INPUT, 'skip'), kept]).toEqual([expect.stringContaining('state cannot be skipped'), []]);
  });

  it('is left out on a skip where its codec is missing, and by no handler', async () => {
    code = 'CODEC_MISSING';
    corruptInput('input-0');
    const manager = await start({ deserializationExceptionHandler: () => 'dead-letter' });
    await until(() => manager.tasks()[0]?.state === 'parked');
    expect(manager.tasks()[0]?.parked).toMatchObject({ code: 'CODEC_MISSING', offset: FIRST });
    expect(manager.command(INPUT, 'skip')).toBeNull();
    await until(() => processed.length === 4);
    expect([processed, kept]).toEqual([['a', 'b', 'c', 'd'], leftOut]);
  });

  it('is left out behind the position too, where the task reads its partition once more', async () => {
    corruptInput('input-0');
    await broker.group({ groupId: 'group', topics: ['input'] }).commit(INPUT, { offset: 6, metadata: '' }, -1);
    const again: string[] = [];
    const manager = await start({}, async (context) => {
      const fetcher = broker.fetcher();
      for (let from: number | null = 0; from !== null && from < 6;) {
        try {
          const feed = fetcher.open(INPUT, from);
          for (const slice of slicesOf(await feed.next(), 100)) again.push(...slice.map(({ value }) => String(value)));
          from = null;
        } catch (error) {
          from = await context.leaveOut(error);
          if (from === null) throw error;
        }
      }
    });
    await until(() => manager.tasks()[0]?.state === 'parked');
    expect(manager.tasks()[0]?.parked).toMatchObject({ code: 'CORRUPT_BATCH', offset: FIRST });
    again.length = 0;
    expect(manager.command(INPUT, 'skip')).toBeNull();
    await until(() => again.length === 4);
    expect([again, kept, processed]).toEqual([['a', 'b', 'c', 'd'], leftOut, []]);
  });

  it('parks its partition behind the position too, while records keep coming', async () => {
    await broker.group({ groupId: 'group', topics: ['input'] }).commit(INPUT, { offset: 6, metadata: '' }, -1);
    const batches = new Map<TaskContext, number>();
    const undecoded = { partition: 'input-0', offset: FIRST, nextOffset: LAST + 1, timestamp: 7 };
    const trickle = () => broker.append(INPUT, { key: null, value: Buffer.from('later') });
    trickle();
    const manager = await start({}, undefined, (context) => {
      const count = (batches.get(context) ?? 0) + 1;
      batches.set(context, count);
      if (count === 1) trickle();
      else setImmediate(() => context.fail(new UndecodedBatch(code, 'no batch', undecoded, null)));
    });
    const stop = setInterval(trickle, 5);
    try {
      await until(() => manager.tasks()[0]?.state === 'parked');
    } finally {
      clearInterval(stop);
    }
    expect(manager.tasks()[0]?.parked).toMatchObject({ code: 'CORRUPT_BATCH', offset: FIRST });
    expect(manager.command(INPUT, 'skip')).toBeNull();
  });
});
