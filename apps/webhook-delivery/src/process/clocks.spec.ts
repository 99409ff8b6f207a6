import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { momentAfter, momentNow, momentOfLog } from './clocks.js';

const LONGEST_WAIT_MS = 15_000;
const HOUR_MS = 3_600_000;

/** Both clocks of a process, of which the epoch clock can be set. */
const readings = fc.record({ epochMs: fc.integer({ min: HOUR_MS, max: 2 ** 42 }), monotonicMs: fc.nat() });

describe('the present by both clocks', () => {
  /** The process loses its processor for 231 ms after each of these readings of a clock, counted from one. */
  function nowWith(stalls: readonly number[]) {
    let [time, reading] = [1_000, 0];
    const read = (): number => {
      const value = time;
      if (stalls.includes(++reading)) time += 231;
      return value;
    };
    return momentNow({ nowMs: read, monotonicMs: read });
  }

  it.each([1, 2, 3])('is one time even if the process stalls at reading %i (R-22)', (stall) => {
    const { epochMs, monotonicMs } = nowWith([stall]);
    expect(monotonicMs).toBe(epochMs);
  });

  it('is not looked for without an end', () => {
    expect(nowWith(Array.from({ length: 20 }, (_, index) => index)).epochMs).toBeLessThan(10_000);
  });
});

describe('a due time of the log (R-22)', () => {
  it('is as far away by the monotonic clock as by the epoch clock that it was set with', () => {
    fc.assert(
      fc.property(readings, fc.integer({ min: -HOUR_MS, max: LONGEST_WAIT_MS }), (now, waitMs) => {
        expect(momentOfLog(now.epochMs + waitMs, LONGEST_WAIT_MS, now)).toEqual(momentAfter(now, waitMs));
      }),
    );
  });

  it('is never further away than its rule allows, however far the clock was set back since', () => {
    fc.assert(
      fc.property(readings, fc.integer({ min: LONGEST_WAIT_MS, max: HOUR_MS }), (now, waitMs) => {
        const due = momentOfLog(now.epochMs + waitMs, LONGEST_WAIT_MS, now);
        expect(due.monotonicMs - now.monotonicMs).toBe(LONGEST_WAIT_MS);
      }),
    );
  });
});
