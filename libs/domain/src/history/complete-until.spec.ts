import { describe, expect, it } from '@jest/globals';
import { ATTEMPT_DEADLINE_MS } from '../delivery/attempt-limits.js';
import { completeUntil } from './complete-until.js';

/** For how long the record of an attempt is written again before the attempt itself is made again. */
const WRITTEN_FOR_MS = 60_000;
const CLOCKS_MS = 5_000;

describe('until when the history is complete (R-33)', () => {
  it('leaves room for an attempt that took its time, was written late, and was timed by a clock that is behind', () => {
    expect(completeUntil(1_000_000)).toBeLessThanOrEqual(1_000_000 - ATTEMPT_DEADLINE_MS - WRITTEN_FOR_MS - CLOCKS_MS);
  });

  it('is unknown while it is unknown what was projected', () => expect(completeUntil(null)).toBeNull());
});
