import { describe, expect, it } from '@jest/globals';
import { RateLimiter } from './rate-limiter.js';

function build(limit: { perSecond: number; burst: number }) {
  let nowMs = 1_000_000;
  const limiter = new RateLimiter(limit, () => nowMs);
  return { limiter, advance: (ms: number) => void (nowMs += ms) };
}

function takeMany(limiter: RateLimiter, count: number, caller = 'a') {
  return Array.from({ length: count }, () => limiter.take(caller).type);
}

describe('the rate limiter', () => {
  it('allows a burst and then the rate', () => {
    const { limiter, advance } = build({ perSecond: 2, burst: 3 });
    expect(takeMany(limiter, 4)).toEqual(['allowed', 'allowed', 'allowed', 'limited']);
    advance(500);
    expect(takeMany(limiter, 2)).toEqual(['allowed', 'limited']);
  });

  it('never saves up more than the burst', () => {
    const { limiter, advance } = build({ perSecond: 2, burst: 3 });
    advance(3_600_000);
    expect(takeMany(limiter, 4)).toEqual(['allowed', 'allowed', 'allowed', 'limited']);
  });

  it('returns tokens up to the burst', () => {
    const { limiter } = build({ perSecond: 1, burst: 2 });
    takeMany(limiter, 3);
    limiter.giveBack('a');
    expect(takeMany(limiter, 2)).toEqual(['allowed', 'limited']);
    for (let i = 0; i < 5; i++) limiter.giveBack('a');
    expect(takeMany(limiter, 3)).toEqual(['allowed', 'allowed', 'limited']);
    limiter.giveBack('nobody');
    expect(takeMany(limiter, 3, 'nobody')).toEqual(['allowed', 'allowed', 'limited']);
  });

  it('keeps callers apart', () => {
    const { limiter } = build({ perSecond: 1, burst: 1 });
    expect(takeMany(limiter, 2, 'a')).toEqual(['allowed', 'limited']);
    expect(takeMany(limiter, 1, 'b')).toEqual(['allowed']);
  });

  it('says after how many whole seconds a call is allowed again', () => {
    const { limiter, advance } = build({ perSecond: 0.4, burst: 1 });
    limiter.take('a');
    expect(limiter.take('a')).toEqual({ type: 'limited', retryAfterS: 3, remaining: 0, resetS: 3 });
    advance(2_999);
    expect(limiter.take('a').type).toBe('allowed');
  });

  it('stays small and fast with any number of callers', () => {
    const { limiter, advance } = build({ perSecond: 1, burst: 5 });
    let limited = 0;
    for (let i = 0; i < 100_000; i++) {
      if (limiter.take(`address-${String(i)}`).type === 'limited') limited++;
      if (i % 1_000 === 0) advance(1);
    }
    expect(limited).toBe(0);
    // The oldest have been forgotten, the newest have not.
    expect(takeMany(limiter, 5, 'address-99999').at(-1)).toBe('limited');
  });

  it('grants nothing when the clock goes back, and takes nothing away', () => {
    const { limiter, advance } = build({ perSecond: 1, burst: 1 });
    limiter.take('a');
    advance(-10_000);
    expect(limiter.take('a')).toMatchObject({ type: 'limited', retryAfterS: 1 });
  });
});
