import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { RebalanceListener } from '../backend/backend.js';
import { silentLogger } from '../logger.js';
import { createMemoryBackend } from '../testing/memory-backend.js';
import type { PartitionTask } from './partition-task.js';
import { createTaskManager, type TaskManager } from './task-manager.js';

const IDLE_TASK: PartitionTask = {
  open: () => Promise.resolve({ position: 0 }),
  process: () => Promise.resolve(),
  close: () => Promise.resolve(),
};

let leased: boolean;
let fatal: unknown[];
let runner: TaskManager;

beforeEach(async () => {
  jest.useFakeTimers();
  leased = true;
  fatal = [];
  const backend = createMemoryBackend({ topics: { t: 1 }, now: Date.now });
  const group = backend.group.bind(backend);
  backend.group = (options) => ({ ...group(options), leaseValid: () => leased });
  runner = createTaskManager({
    backend,
    groupId: 'g',
    topics: ['t'],
    createTask: () => IDLE_TASK,
    logger: silentLogger,
    now: Date.now,
    onFatal: (error) => fatal.push(error),
  });
  await runner.start();
});

afterEach(async () => {
  jest.useRealTimers();
  await runner.stop();
});

describe('the watchdog of a task manager', () => {
  it('ends a process without an accepted heartbeat for five minutes', () => {
    leased = false;
    jest.advanceTimersByTime(4 * 60_000);
    expect(fatal).toEqual([]);
    jest.advanceTimersByTime(60_000);
    expect(fatal).toEqual([expect.objectContaining({ code: 'BROKER_UNAVAILABLE' })]);
  });

  it('starts counting again when a heartbeat is accepted', () => {
    leased = false;
    jest.advanceTimersByTime(4 * 60_000);
    leased = true;
    jest.advanceTimersByTime(10_000);
    leased = false;
    jest.advanceTimersByTime(4 * 60_000);
    expect(fatal).toEqual([]);
  });

  it('is not ready without a lease', () => {
    leased = false;
    expect(runner.ready()).toBe(false);
  });
});

describe('a task manager whose topic gets more partitions', () => {
  it.each([
    ['ends the process with the fix, because keys have left their state', false],
    ['joins again, where its tasks keep nothing by partition', true],
  ])('%s, within a minute', async (_title, readsNewPartitions) => {
    const backend = createMemoryBackend({ topics: { t: 1 }, now: Date.now });
    const group = backend.group.bind(backend);
    let rejoins = 0;
    let known: ReadonlyMap<string, number> | undefined;
    backend.group = (options) => {
      known = options.partitionCounts;
      return { ...group(options), rejoin: () => (rejoins += 1) };
    };
    const grown = createTaskManager({
      backend,
      groupId: 'g',
      topics: ['t'],
      logger: silentLogger,
      now: Date.now,
      readsNewPartitions,
      createTask: () => IDLE_TASK,
      onFatal: (error) => fatal.push(error),
    });
    await grown.start();
    await jest.advanceTimersByTimeAsync(60_000);
    expect([rejoins, fatal]).toEqual([0, []]);
    backend.partitionCount = () => Promise.resolve(3);
    await jest.advanceTimersByTimeAsync(60_000);
    const error = { code: 'PARTITIONS_DIFFER', message: expect.stringContaining('has 3 partitions now and had 1') };
    expect([rejoins, fatal]).toEqual(readsNewPartitions ? [1, []] : [0, [expect.objectContaining(error)]]);
    expect(known?.get('t')).toBe(3);
    jest.useRealTimers();
    await grown.stop();
  });
});

describe('a task manager that is stopped while it starts', () => {
  it('does not join the group afterwards, where it would hold partitions that it works on none of', async () => {
    const backend = createMemoryBackend({ topics: { t: 1 }, now: Date.now });
    const joined = jest.spyOn(backend, 'group');
    let answer: (partitions: number) => void = () => undefined;
    backend.partitionCount = () => new Promise((resolve) => (answer = resolve));
    const states: string[] = [];
    const manager = createTaskManager({
      backend,
      groupId: 'g',
      topics: ['t'],
      createTask: () => IDLE_TASK,
      logger: silentLogger,
      now: Date.now,
      onStateChange: (state) => states.push(state),
      onFatal: () => undefined,
    });
    const started = manager.start();
    await manager.stop();
    answer(1);
    await expect(started).rejects.toThrow('g was stopped, and cannot start again: create another.');
    expect(joined).not.toHaveBeenCalled();
    expect(states).toEqual(['stopping', 'stopped']);
  });
});

describe('a task manager with changelogs', () => {
  it('refuses to start where their settings would lose the state, with the fix', async () => {
    const backend = createMemoryBackend({ topics: { t: 1, state: 1 }, now: Date.now });
    backend.topicSettings = () => Promise.resolve(new Map([['cleanup.policy', 'delete']]));
    const manager = createTaskManager({
      backend,
      groupId: 'g',
      topics: ['t'],
      changelogs: ['state'],
      createTask: () => IDLE_TASK,
      logger: silentLogger,
      now: Date.now,
      onFatal: () => undefined,
    });
    await expect(manager.start()).rejects.toMatchObject({
      code: 'TOPIC_SETTINGS',
      message: expect.stringContaining(
        'The topic state, a changelog of g, has cleanup.policy=delete: set it to compact',
      ),
    });
  });
});

describe('a task manager that loses a partition', () => {
  let listener: RebalanceListener;
  let events: string[];
  let endWork: () => void;
  let tasks: number;
  let suspending: () => Promise<void>;
  let logged: string[];

  /** A runner whose assignments the test makes. Each task logs what it does, and closes on request. */
  beforeEach(async () => {
    events = [];
    tasks = 0;
    suspending = () => Promise.resolve();
    logged = [];
    const backend = createMemoryBackend({ topics: { t: 1 }, now: Date.now });
    const group = backend.group.bind(backend);
    backend.group = (options) => ({
      ...group(options),
      join: (given) => {
        listener = given;
        return Promise.resolve();
      },
      confirm: () => Promise.resolve(true),
    });
    const slow = createTaskManager({
      backend,
      groupId: 'slow',
      topics: ['t'],
      createTask: () => {
        const name = `task ${String(++tasks)}`;
        return {
          open: () => {
            events.push(`${name} opens`);
            return Promise.resolve({ position: 0 });
          },
          process: () => Promise.resolve(),
          suspend: () => {
            events.push(`${name} is suspended`);
            return suspending();
          },
          close: async () => {
            await new Promise<void>((resolve) => (endWork = resolve));
            events.push(`${name} is closed`);
          },
        };
      },
      logger: { ...silentLogger, debug: (event) => void logged.push(event), warn: (event) => void logged.push(event) },
      now: Date.now,
      onFatal: (error) => fatal.push(error),
    });
    await slow.start();
    assign(1, 0);
    await jest.advanceTimersByTimeAsync(0);
  });

  const assign = (generation: number, ...partitions: number[]): { settled: boolean } => {
    const state = { settled: false };
    const assignment = { generation, partitions: partitions.map((partition) => ({ topic: 't', partition })) };
    void Promise.resolve(listener.assigned(assignment)).then(() => (state.settled = true));
    return state;
  };

  it('ends the process, and starts no task, for a partition of a topic that it does not read', async () => {
    void listener.assigned({ generation: 2, partitions: ['t', 'other'].map((topic) => ({ topic, partition: 0 })) });
    await jest.advanceTimersByTimeAsync(0);
    expect(events).toEqual(['task 1 opens']);
    expect(fatal).toEqual([
      expect.objectContaining({ code: 'GROUP_REFUSED', message: expect.stringContaining('slow has assigned other-0') }),
    ]);
  });

  it('suspends the task, and reports the revocation when the task is closed, not before', async () => {
    const loss = assign(2);
    await jest.advanceTimersByTimeAsync(5_000);
    expect(loss.settled).toBe(false);
    endWork();
    await jest.advanceTimersByTimeAsync(0);
    expect(events).toEqual(['task 1 opens', 'task 1 is suspended', 'task 1 is closed']);
    expect(loss.settled).toBe(true);
  });

  it('closes the task even when it could not be suspended, and builds no new one', async () => {
    suspending = () => Promise.reject(new Error('the producer is fenced'));
    const loss = assign(2);
    await jest.advanceTimersByTimeAsync(0);
    endWork();
    await jest.advanceTimersByTimeAsync(5_000);
    expect(events).toEqual(['task 1 opens', 'task 1 is suspended', 'task 1 is closed']);
    expect(logged).toEqual(['task_left_behind']);
    expect(loss.settled).toBe(true);
  });

  it('waits for earlier revocations as well', async () => {
    assign(2);
    const later = assign(3);
    await jest.advanceTimersByTimeAsync(1_000);
    expect(later.settled).toBe(false);
    endWork();
    await jest.advanceTimersByTimeAsync(0);
    expect(later.settled).toBe(true);
  });

  it('starts no second task for a partition that comes back before the first is closed', async () => {
    assign(2);
    assign(3, 0);
    await jest.advanceTimersByTimeAsync(1_000);
    expect(events).not.toContain('task 2 opens');
    endWork();
    await jest.advanceTimersByTimeAsync(0);
    expect(events.slice(-2)).toEqual(['task 1 is closed', 'task 2 opens']);
  });

  it('starts the last one only, when it comes back twice before the first is closed', async () => {
    for (const generation of [2, 4]) {
      assign(generation);
      await jest.advanceTimersByTimeAsync(1_000);
      assign(generation + 1, 0);
      await jest.advanceTimersByTimeAsync(1_000);
    }
    expect(events).toEqual(['task 1 opens', 'task 1 is suspended']);
    endWork();
    await jest.advanceTimersByTimeAsync(1_000);
    expect(events).toEqual(['task 1 opens', 'task 1 is suspended', 'task 1 is closed', 'task 2 opens']);
  });

  it('stops waiting for a task that has not closed within ten seconds, so that its partition can move', async () => {
    const loss = assign(2);
    await jest.advanceTimersByTimeAsync(9_900);
    expect(loss.settled).toBe(false);
    await jest.advanceTimersByTimeAsync(200);
    expect(loss.settled).toBe(true);
  });
});
