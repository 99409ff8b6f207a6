import { describe, expect, it } from '@jest/globals';
import { buildScheduler, times } from '../testing/scheduler-harness.js';

describe('a turn of the event loop in which much may begin (R-22)', () => {
  it('is over after 32 deliveries, so that retries that have become due come before the others', () => {
    const { started, enqueue, passMs } = buildScheduler({});
    times(100, (i) => enqueue(`s${String(i)}`));
    expect(started).toHaveLength(32);
    passMs(1);
    expect(started).toHaveLength(64);
  });

  it('is over also when each response makes room for another delivery', () => {
    const { started, enqueue, endOne, passMs } = buildScheduler({ total: 1 });
    times(100, () => enqueue('s'));
    times(50, () => endOne('s'));
    expect(started).toHaveLength(32);
    passMs(1);
    expect(started).toHaveLength(33);
  });

  it('counts only what has begun in it', () => {
    const { started, enqueue, endOne, passMs } = buildScheduler({});
    times(100, () => {
      enqueue('s');
      endOne('s');
      passMs(1);
    });
    expect(started).toHaveLength(100);
  });
});

describe('first attempts of DeliveryScheduler while retries start late (R-22)', () => {
  it('leave most of the time to the retries, and take it back when these are punctual again', () => {
    const { started, enqueue, oldestOf, endOne, passMs, now } = buildScheduler({ total: 20, beginningTakesMs: 1 });
    enqueue('late');
    const startedIn = (ms: number): number => {
      const before = started.length;
      for (const endMs = now() + ms; now() < endMs;) {
        for (const id of ['s', 'other']) if (oldestOf(id)) endOne(id);
        passMs(1);
      }
      return started.length - before;
    };
    times(10_000, (i) => enqueue(i % 2 === 0 ? 's' : 'other'));
    startedIn(100);
    const unhindered = startedIn(1_000);
    oldestOf('late')?.retryStarts(9);
    const punctual = startedIn(1_000);
    times(4, () => {
      oldestOf('late')?.retryStarts(11);
      passMs(101);
    });
    const lateOften = startedIn(1_000);
    passMs(20_000);
    expect(unhindered).toBeGreaterThan(400);
    expect(punctual).toBeGreaterThan(unhindered * 0.9);
    expect(lateOften).toBeLessThan(unhindered * 0.6);
    expect(lateOften).toBeGreaterThan(0);
    expect(startedIn(1_000)).toBeGreaterThan(unhindered * 0.7);
  });
});
