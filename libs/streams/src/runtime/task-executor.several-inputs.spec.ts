import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { until } from '../../../../test/support/until.js';
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
});
