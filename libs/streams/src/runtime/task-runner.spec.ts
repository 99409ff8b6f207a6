import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { createMemoryBackend } from '../backend/memory/memory-backend.js';
import { silentLogger } from '../logger.js';
import { createTaskRunner, type TaskRunner } from './task-runner.js';

let leased: boolean;
let fatal: unknown[];
let runner: TaskRunner;

beforeEach(async () => {
  jest.useFakeTimers();
  leased = true;
  fatal = [];
  const backend = createMemoryBackend({ topics: { t: 1 }, now: Date.now });
  const group = backend.group.bind(backend);
  backend.group = (options) => ({ ...group(options), leaseValid: () => leased });
  runner = createTaskRunner({
    backend,
    groupId: 'g',
    topics: ['t'],
    createTask: () => ({
      open: () => Promise.resolve({ position: 0 }),
      process: () => Promise.resolve(),
      close: () => Promise.resolve(),
    }),
    logger: silentLogger,
    onFatal: (error) => fatal.push(error),
  });
  await runner.start();
});

afterEach(async () => {
  jest.useRealTimers();
  await runner.stop();
});

describe('the watchdog of a runner', () => {
  it('ends a process that the group has not heard of for five minutes', () => {
    leased = false;
    jest.advanceTimersByTime(4 * 60_000);
    expect(fatal).toEqual([]);
    jest.advanceTimersByTime(60_000);
    expect(fatal).toEqual([expect.objectContaining({ code: 'BROKER_UNAVAILABLE' })]);
  });

  it('starts to count anew when a heartbeat is accepted', () => {
    leased = false;
    jest.advanceTimersByTime(4 * 60_000);
    leased = true;
    jest.advanceTimersByTime(10_000);
    leased = false;
    jest.advanceTimersByTime(4 * 60_000);
    expect(fatal).toEqual([]);
  });

  it('calls a runner without a lease not ready', () => {
    leased = false;
    expect(runner.ready()).toBe(false);
  });
});
