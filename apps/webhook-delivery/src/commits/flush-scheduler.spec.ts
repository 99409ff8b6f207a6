import { beforeEach, describe, expect, it } from '@jest/globals';
import { createFlushScheduler, type Flushable } from './flush-scheduler.js';

let monotonicMs: number;
let armed: { readonly delayMs: number; readonly run: () => void }[];
let flushes: string[];
let scheduler: ReturnType<typeof createFlushScheduler>;

beforeEach(() => {
  monotonicMs = 10_000;
  armed = [];
  flushes = [];
  const timers = {
    after: (delayMs: number, run: () => void) => {
      armed.push({ delayMs, run });
      return () => undefined;
    },
  };
  scheduler = createFlushScheduler({
    timers,
    monotonicMs: () => monotonicMs,
    intervals: { intervalMs: 5, busyIntervalMs: 15 },
  });
});

function log(name: string, records: number): Flushable {
  return {
    flush: () => {
      flushes.push(name);
      return records;
    },
  };
}

/** Runs the timer that is armed. @returns how long it had to wait */
function fire(): number {
  const [timer, ...more] = armed.splice(0);
  if (!timer || more.length > 0) throw new Error('one timer expected');
  timer.run();
  return timer.delayMs;
}

describe('the flushes of a process', () => {
  it('send the records of all partitions at the same moment, each once', () => {
    const [a, b] = [log('a', 1), log('b', 1)];
    for (const one of [a, b, a]) scheduler.request(one);
    expect(fire()).toBe(0);
    expect(flushes).toEqual(['a', 'b']);
    scheduler.request(b);
    fire();
    expect(flushes).toEqual(['a', 'b', 'b']);
  });

  it.each([
    ['5 ms after a flush of 23 records', [22, 1], 5],
    ['15 ms after a flush of 24 records', [12, 12], 15],
  ])('follow %s', (_, counts, delayMs) => {
    for (const count of counts) scheduler.request(log('a', count));
    fire();
    scheduler.request(log('a', 1));
    expect(fire()).toBe(delayMs);
  });

  it('wait only for what is left of that time, and not at all after it', () => {
    scheduler.request(log('a', 1));
    fire();
    monotonicMs += 3;
    scheduler.request(log('a', 1));
    expect(fire()).toBe(2);
    monotonicMs += 100;
    scheduler.request(log('a', 1));
    expect(fire()).toBe(0);
  });

  it('take what is requested during a flush with the next one', () => {
    const again = log('again', 1);
    scheduler.request({ flush: () => (scheduler.request(again), 1) });
    fire();
    expect(flushes).toEqual([]);
    fire();
    expect(flushes).toEqual(['again']);
  });
});
