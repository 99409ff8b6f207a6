import { describe, expect, it } from '@jest/globals';
import { LanePace } from './lane-pace.js';
import type { LaneSettings } from './lane-settings.js';

const AT_MS = 100_000;

function withRate(ratePerSecond: number | null, about: Partial<LaneSettings> = {}): LaneSettings {
  return { fleetId: 'fleet-1', origin: 'https://example.org', ratePerSecond, heedsRetryAfter: true, ...about };
}

describe('the rate of a lane (R-16)', () => {
  it.each([
    [1, 2, 500],
    [2, 1, 500],
    [1, null, 0],
  ])('waits for one start at most when %p a second becomes %p', (before, after, waitMs) => {
    const pace = new LanePace();
    pace.waitMs(withRate(before), AT_MS);
    expect(pace.waitMs(withRate(after), AT_MS)).toBe(waitMs);
  });

  it('does not count by the new rate what began or was tried again under the old one', () => {
    const pace = new LanePace();
    pace.waitMs(withRate(1), AT_MS);
    for (let n = 0; n < 30; n++) pace.countRetry(withRate(1), AT_MS);
    expect(pace.waitMs(withRate(1), AT_MS)).toBe(31_000);
    expect(pace.waitMs(withRate(10), AT_MS)).toBe(100);
  });

  it('makes up for the lateness of a timer once, not for a start that nothing delayed', () => {
    const pace = new LanePace();
    pace.waitMs(withRate(1), AT_MS);
    expect(pace.waitMs(withRate(1), AT_MS + 500)).toBe(500);
    // The timer fires 5 ms late.
    expect(pace.waitMs(withRate(1), AT_MS + 1_005)).toBe(0);
    expect(pace.waitMs(withRate(1), AT_MS + 60_000)).toBe(0);
    expect(pace.waitMs(withRate(1), AT_MS + 60_000)).toBe(1_000);
  });

  it('makes up for retries, but holds first attempts back for a minute at most, however many were due at once', () => {
    const pace = new LanePace();
    for (let n = 0; n < 40; n++) pace.countRetry(withRate(1), AT_MS);
    expect(pace.waitMs(withRate(1), AT_MS)).toBe(40_000);
    for (let n = 0; n < 400; n++) pace.countRetry(withRate(1), AT_MS);
    expect(pace.waitMs(withRate(1), AT_MS)).toBe(60_000);
  });
});

describe('Retry-After (R-22)', () => {
  it('holds back what would be sent, and nothing that ends without a request (R-16)', () => {
    const pace = new LanePace();
    pace.beginNoneBefore(AT_MS + 15_000);
    expect(pace.waitMs(withRate(null), AT_MS)).toBe(15_000);
    expect(pace.waitMs(withRate(null, { heedsRetryAfter: false }), AT_MS)).toBe(0);
    expect(pace.waitMs(withRate(null), AT_MS + 1)).toBe(14_999);
  });
});
