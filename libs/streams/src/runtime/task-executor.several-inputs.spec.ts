import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { until } from '../../../../test/support/until.js';
import { StreamsError, UndecodedBatch } from '../errors.js';
import { silentLogger } from '../logger.js';
import type { StreamRecord, TopicPartition } from '../record.js';
import { createMemoryBackend } from '../testing/memory-backend.js';
import type { PartitionTask, TaskContext } from './partition-task.js';
import { createTaskManager, type TaskManager } from './task-manager.js';

const ORDERS = { topic: 'orders', partition: 0 };
const PAYMENTS = { topic: 'payments', partition: 0 };

let broker: ReturnType<typeof createMemoryBackend>;
let managers: TaskManager[];
let kept: [TopicPartition, StreamRecord['offset']][];

beforeEach(() => {
  broker = createMemoryBackend({ topics: { orders: 1, payments: 1 }, now: Date.now });
  [managers, kept] = [[], []];
});

afterEach(() => Promise.all(managers.map((manager) => manager.stop())));

/** Starts a task that reads both topics; `task` has what a test looks at. */
async function start(task: (context: TaskContext) => Partial<PartitionTask>): Promise<TaskManager> {
  const manager = createTaskManager({
    backend: broker,
    groupId: 'group',
    topics: ['orders', 'payments'],
    joinsTopics: true,
    createTask: (context) => ({
      open: async () => {
        const [orders, payments] = [await context.committedOffset(), await context.committedOffset('payments')];
        return { position: orders?.offset ?? 0, others: new Map([['payments', payments?.offset ?? 0]]) };
      },
      process: () => Promise.resolve(),
      close: () => Promise.resolve(),
      ...task(context),
    }),
    deadLetterQueue: (partition, { offset }) => Promise.resolve(void kept.push([partition, offset])),
    logger: silentLogger,
    now: Date.now,
    onFatal: () => undefined,
  });
  managers.push(manager);
  await manager.start();
  return manager;
}

function append(partition: TopicPartition, value: string, timestamp: number): void {
  broker.append(partition, { key: null, value: Buffer.from(value), timestamp });
}

describe('a task with several inputs', () => {
  it('leaves timers and I/O a turn after a thousand records of a backlog', async () => {
    for (let n = 0; n < 3_000; n++) append(n % 2 === 0 ? ORDERS : PAYMENTS, 'v', n);
    let processed = 0;
    let processedAtTurn: number | null = null;
    await start(() => ({
      process: ({ records }) => {
        if (processed === 0) setImmediate(() => (processedAtTurn = processed));
        processed += records.length;
        return Promise.resolve();
      },
    }));
    await until(() => processed === 3_000);
    expect(processedAtTurn).toBeLessThanOrEqual(1_000);
  });

  it('is parked when it does not say where it begins in one of them', async () => {
    const manager = await start(() => ({ open: () => Promise.resolve({ position: 0 }) }));
    await until(() => manager.tasks()[0]?.state === 'parked');
    const message = expect.stringContaining('gave no position for payments');
    expect(manager.tasks()[0]?.parked).toMatchObject({ code: 'INVALID_TOPOLOGY', topic: 'payments', message });
  });

  it('commits a position in each, and begins there', async () => {
    append(ORDERS, 'a', 1);
    append(PAYMENTS, 'x', 2);
    append(PAYMENTS, 'y', 3);
    const processed: string[] = [];
    const counting = (context: TaskContext): Partial<PartitionTask> => ({
      process: async ({ topic, records, nextOffset }) => {
        processed.push(...records.map(({ value }) => String(value)));
        await context.commitOffset(nextOffset, '', topic);
      },
    });
    const first = await start(counting);
    await until(() => processed.length === 3);
    await first.stop();
    append(ORDERS, 'b', 4);
    append(PAYMENTS, 'z', 5);
    await start(counting);
    await until(() => processed.length >= 5);
    expect(processed).toEqual(['a', 'x', 'y', 'b', 'z']);
  });

  it('leaves out a batch that it meets in the second behind its position, on a skip', async () => {
    const undecoded = { partition: 'payments-0', offset: 3, nextOffset: 5, timestamp: 7 };
    const error = new UndecodedBatch('CORRUPT_BATCH', 'no batch', undecoded, null);
    for (let n = 0; n < 6; n++) append(PAYMENTS, 'v', n);
    await broker.group({ groupId: 'group', topics: [] }).commit(PAYMENTS, { offset: 6, metadata: '' }, -1);
    let goesOnAt: number | null = null;
    const manager = await start((context) => ({
      idle: async () => {
        goesOnAt = await context.leaveOut(error);
        if (goesOnAt === null) throw error;
      },
    }));
    await until(() => manager.tasks()[0]?.state === 'parked');
    expect(manager.tasks()[0]?.parked).toMatchObject({ code: 'CORRUPT_BATCH', topic: 'payments', offset: 3 });
    expect(manager.command(ORDERS, 'skip')).toBeNull();
    await until(() => goesOnAt === 5);
    expect(kept[0]).toEqual([PAYMENTS, 3]);
  });

  it('blames a commit that fails while nothing comes on what was processed last', async () => {
    append(PAYMENTS, 'x', 1);
    append(ORDERS, 'a', 2);
    append(ORDERS, 'poison', 3);
    const manager = await start((context) => {
      const [pending, positions] = [new Set<string>(), new Map<string, number>()];
      return {
        process: ({ topic, records, nextOffset }) => {
          for (const { value } of records) pending.add(String(value));
          positions.set(topic, nextOffset);
          return Promise.resolve();
        },
        idle: async () => {
          if (pending.has('poison')) throw new StreamsError('RECORD_TOO_LARGE', 'too large');
          pending.clear();
          for (const [topic, position] of positions) await context.commitOffset(position, '', topic);
        },
      };
    });
    await until(() => manager.tasks()[0]?.state === 'parked');
    expect(manager.tasks()[0]?.parked).toMatchObject({ code: 'RECORD_TOO_LARGE', topic: 'orders', offset: 1 });
  });
});
