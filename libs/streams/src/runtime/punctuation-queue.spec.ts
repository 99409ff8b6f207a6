import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createPunctuators, type Punctuators } from './punctuation-queue.js';

interface Clocks extends Punctuators {
  /** A record of this timestamp was processed. */
  record(timestamp: number): void;
  wallClock(time: number): void;
}

function at(start: number, streamTimeMs: number | null = null): Clocks {
  let now = start;
  const punctuation = createPunctuators({ streamTimeMs, now: () => now });
  return {
    ...punctuation,
    record: (timestamp) => {
      punctuation.moveStreamTime(timestamp);
      punctuation.punctuateStreamTime();
    },
    wallClock: (time) => {
      now = time;
      punctuation.punctuateWallClock();
    },
  };
}

const every = fc.integer({ min: 1, max: 50 });
const times = fc.array(fc.integer({ min: 0, max: 400 }), { maxLength: 60 });

/** The interval of the grid that a time lies in. */
function cell(time: number, everyMs: number): number {
  return Math.floor(time / everyMs);
}

describe('stream-time punctuators', () => {
  it('are called at the first record and whenever a record is the first in a new interval, whatever the order', () => {
    fc.assert(
      fc.property(every, times, (everyMs, timestamps) => {
        const punctuation = at(0);
        const calls: number[] = [];
        punctuation.schedule({ everyMs, type: 'stream-time' }, (time) => calls.push(time));
        for (const timestamp of timestamps) punctuation.record(timestamp);

        const expected: number[] = [];
        timestamps.forEach((timestamp, i) => {
          const before = timestamps.slice(0, i);
          if (before.every((earlier) => cell(earlier, everyMs) < cell(timestamp, everyMs))) expected.push(timestamp);
        });
        expect(calls).toEqual(expected);
        expect(punctuation.streamTimeMs()).toBe(timestamps.length === 0 ? null : Math.max(...timestamps));
      }),
    );
  });

  it('are called for the same records when the task is rebuilt anywhere between them', () => {
    fc.assert(
      fc.property(every, times, fc.nat(60), (everyMs, timestamps, rebuiltAfter) => {
        const run = (punctuation: Clocks, part: readonly number[]): [number[], Clocks] => {
          const calls: number[] = [];
          punctuation.schedule({ everyMs, type: 'stream-time' }, (time) => calls.push(time));
          for (const timestamp of part) punctuation.record(timestamp);
          return [calls, punctuation];
        };
        const [whole] = run(at(0), timestamps);
        const [first, before] = run(at(0), timestamps.slice(0, rebuiltAfter));
        const [second] = run(at(0, before.streamTimeMs()), timestamps.slice(rebuiltAfter));
        expect([...first, ...second]).toEqual(whole);
      }),
    );
  });

  it('do not see the wall clock', () => {
    const punctuation = at(0);
    const calls: number[] = [];
    punctuation.schedule({ everyMs: 10, type: 'stream-time' }, (time) => calls.push(time));
    punctuation.wallClock(1_000);
    expect(calls).toEqual([]);
  });
});

describe('wall-clock punctuators', () => {
  it('are called once in each interval since they were scheduled in which the clock is looked at', () => {
    fc.assert(
      fc.property(every, fc.nat(100), fc.array(fc.nat(120), { maxLength: 60 }), (everyMs, start, steps) => {
        const punctuation = at(start);
        const calls: number[] = [];
        punctuation.schedule({ everyMs, type: 'wall-clock' }, (time) => calls.push(time));
        const expected: number[] = [];
        let now = start;
        for (const step of steps) {
          const before = now;
          now += step;
          if (cell(now - start, everyMs) > cell(before - start, everyMs)) expected.push(now);
          punctuation.wallClock(now);
        }
        expect(calls).toEqual(expected);
      }),
    );
  });

  it('do not see the timestamps of records', () => {
    const punctuation = at(0);
    const calls: number[] = [];
    punctuation.schedule({ everyMs: 10, type: 'wall-clock' }, (time) => calls.push(time));
    punctuation.record(1_000);
    expect(calls).toEqual([]);
  });
});

describe('schedules', () => {
  it('are independent of each other, and the one that is due earliest is called first', () => {
    const punctuation = at(0, 0);
    const calls: string[] = [];
    for (const everyMs of [7, 10, 3]) {
      punctuation.schedule({ everyMs, type: 'stream-time' }, () => calls.push(`every ${String(everyMs)}`));
    }
    punctuation.record(7);
    expect(calls).toEqual(['every 3', 'every 7']);
    punctuation.record(11);
    expect(calls.slice(2)).toEqual(['every 3', 'every 10']);
  });

  it('end when they are cancelled, also by themselves or by one that is called before them', () => {
    const punctuation = at(0);
    const calls: string[] = [];
    const options = { everyMs: 10, type: 'wall-clock' } as const;
    const once = punctuation.schedule(options, () => {
      calls.push('once');
      once.cancel();
      never.cancel();
    });
    const never = punctuation.schedule(options, () => calls.push('never'));
    const twice = punctuation.schedule(options, () => calls.push('twice'));
    punctuation.wallClock(10);
    punctuation.wallClock(20);
    twice.cancel();
    punctuation.wallClock(30);
    expect(calls).toEqual(['once', 'twice', 'twice']);
  });

  it('can be made by a punctuator, and begin with the next interval', () => {
    const punctuation = at(0);
    const calls: string[] = [];
    const first = punctuation.schedule({ everyMs: 10, type: 'stream-time' }, (time) => {
      calls.push(`first ${String(time)}`);
      first.cancel();
      punctuation.schedule({ everyMs: 10, type: 'stream-time' }, (later) => calls.push(`second ${String(later)}`));
    });
    for (const timestamp of [1, 9, 12, 13, 20]) punctuation.record(timestamp);
    expect(calls).toEqual(['first 1', 'second 12', 'second 20']);
  });

  it.each([0, -1, 1.5, NaN, Infinity])('refuse an interval of %p ms and say what would do', (everyMs) => {
    const schedule = () => at(0).schedule({ everyMs, type: 'wall-clock' }, () => undefined);
    expect(schedule).toThrow('a whole number of at least 1');
  });
});
