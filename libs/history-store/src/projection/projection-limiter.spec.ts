import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { createProjectionLimiter, type ProjectionLimiter } from './projection-limiter.js';

const SLOT_TIMEOUT_MS = 1_000;

let started: string[];
let finishers: Map<string, () => void>;

beforeEach(() => {
  jest.useFakeTimers();
  started = [];
  finishers = new Map();
});

afterEach(() => {
  jest.useRealTimers();
});

/** Work that runs until `finish` is called with its name. */
function run(limiter: ProjectionLimiter, name: string): Promise<string> {
  return limiter(async () => {
    started.push(name);
    await new Promise<void>((resolve) => finishers.set(name, resolve));
    return name;
  });
}

async function finish(name: string): Promise<void> {
  finishers.get(name)?.();
  await jest.advanceTimersByTimeAsync(0);
}

describe('createProjectionLimiter', () => {
  it('starts the next work when the previous has finished', async () => {
    const limiter = createProjectionLimiter(1, SLOT_TIMEOUT_MS);
    const first = run(limiter, 'first');
    void run(limiter, 'second');
    await jest.advanceTimersByTimeAsync(SLOT_TIMEOUT_MS - 1);
    expect(started).toEqual(['first']);
    await finish('first');
    expect(await first).toBe('first');
    expect(started).toEqual(['first', 'second']);
  });

  it('runs as much work at once as it is configured for', async () => {
    const limiter = createProjectionLimiter(2, SLOT_TIMEOUT_MS);
    for (const name of ['first', 'second', 'third']) void run(limiter, name);
    await jest.advanceTimersByTimeAsync(0);
    expect(started).toEqual(['first', 'second']);
  });

  it('gives the slot of work that takes too long to the next, while that work continues', async () => {
    const limiter = createProjectionLimiter(1, SLOT_TIMEOUT_MS);
    const stuck = run(limiter, 'stuck');
    for (const name of ['second', 'third']) void run(limiter, name);
    await jest.advanceTimersByTimeAsync(SLOT_TIMEOUT_MS);
    expect(started).toEqual(['stuck', 'second']);
    await finish('stuck');
    expect(await stuck).toBe('stuck');
    expect(started).toEqual(['stuck', 'second']);
    await finish('second');
    expect(started).toEqual(['stuck', 'second', 'third']);
  });

  it('grants at most four slots: the others wait for one of them', async () => {
    const limiter = createProjectionLimiter(1, SLOT_TIMEOUT_MS);
    const names = ['1', '2', '3', '4', '5', '6'];
    for (const name of names) void run(limiter, name);
    for (let timeouts = 0; timeouts < 10; timeouts += 1) await jest.advanceTimersByTimeAsync(SLOT_TIMEOUT_MS);
    expect(started).toEqual(['1', '2', '3', '4', '5']);
    await finish('3');
    expect(started).toEqual(['1', '2', '3', '4', '5']);
    for (const name of ['1', '2', '4', '5']) await finish(name);
    expect(started).toEqual(names);
  });

  it('continues with the next work when work fails', async () => {
    const limiter = createProjectionLimiter(1, SLOT_TIMEOUT_MS);
    const failing = limiter(() => Promise.reject(new Error('no connection')));
    void run(limiter, 'next');
    await expect(failing).rejects.toThrow('no connection');
    await jest.advanceTimersByTimeAsync(0);
    expect(started).toEqual(['next']);
  });
});
