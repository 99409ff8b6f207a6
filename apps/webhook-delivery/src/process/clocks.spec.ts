import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { momentAfter, momentOfLog } from './clocks.js';

const LONGEST_WAIT_MS = 15_000;
const HOUR_MS = 3_600_000;

/** Both clocks of a process, of which the epoch clock can be set. */
const readings = fc.record({ epochMs: fc.integer({ min: HOUR_MS, max: 2 ** 42 }), monotonicMs: fc.nat() });

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
