import { describe, expect, it } from '@jest/globals';
import { createSimulatedClock } from './simulated-clock.js';

const STARTED_AT = Date.UTC(2026, 4, 4);
const MINUTE_MS = 60_000;

describe('the clock of a simulated fleet', () => {
  it('is the real one without a speed', () => {
    const clock = createSimulatedClock(STARTED_AT, 1);
    expect([0, 90_000].map((ms) => clock(STARTED_AT + ms) - STARTED_AT)).toEqual([0, 90_000]);
  });

  it('runs as fast as it is asked to', () => {
    const clock = createSimulatedClock(STARTED_AT, 30);
    expect(clock(STARTED_AT + MINUTE_MS) - clock(STARTED_AT)).toBe(30 * MINUTE_MS);
  });

  it('is never ahead of the real one, so that no ping is from the future (R-3)', () => {
    const clock = createSimulatedClock(STARTED_AT, 30);
    for (const minutes of [0, 1, 49, 50, 10_000]) {
      const nowMs = STARTED_AT + minutes * MINUTE_MS;
      expect(clock(nowMs)).toBeLessThanOrEqual(nowMs);
    }
    expect(clock(STARTED_AT + 60 * MINUTE_MS)).toBe(STARTED_AT + 60 * MINUTE_MS);
  });
});
