import { describe, expect, it } from '@jest/globals';
import { DAY_MS, HOUR_MS, RETENTION_MS } from '@waypost/domain';
import { RetentionClock } from './retention-clock.js';

const START = 1_700_000_000_000;

function build() {
  let passedMs = 5_000;
  let aheadMs = 0;
  const logged: [string, object | undefined][] = [];
  const clock = new RetentionClock({
    nowMs: () => START + passedMs + aheadMs,
    monotonicMs: () => passedMs,
    logger: { error: (event, fields) => void logged.push([event, fields]) },
  });
  const brokersNowMs = (): number => START + passedMs;
  return {
    clock,
    logged,
    brokersNowMs,
    passMs: (ms: number) => void (passedMs += ms),
    setAhead: (ms: number) => void (aheadMs = ms),
  };
}

describe('a delivery that has outlived the history (R-29)', () => {
  it('is too old when both clocks say so', () => {
    const { clock, logged, brokersNowMs, passMs } = build();
    const appendedAt = brokersNowMs() - RETENTION_MS;
    clock.saw(brokersNowMs());
    expect(clock.isTooOld(appendedAt)).toBe(false);
    passMs(1);
    expect(clock.isTooOld(appendedAt)).toBe(true);
    expect(logged).toEqual([]);
  });

  it('is too old also when nothing has been read for days: the time since counts', () => {
    const { clock, brokersNowMs, passMs } = build();
    const appendedAt = brokersNowMs();
    clock.saw(appendedAt);
    passMs(RETENTION_MS + 1);
    expect(clock.isTooOld(appendedAt)).toBe(true);
  });

  it('is not while the newest append time is not 15 days later, and an error is logged once an hour', () => {
    const { clock, logged, brokersNowMs, passMs, setAhead } = build();
    const appendedAt = brokersNowMs();
    clock.saw(appendedAt);
    setAhead(16 * DAY_MS);
    for (let i = 0; i < 3; i++) expect(clock.isTooOld(appendedAt)).toBe(false);
    expect(logged).toEqual([['clock_doubted', { now: brokersNowMs() + 16 * DAY_MS, brokersAtLeast: brokersNowMs() }]]);
    passMs(HOUR_MS);
    expect(clock.isTooOld(appendedAt)).toBe(false);
    expect(logged).toHaveLength(2);
  });

  it('is not before anything has been read, and not by an older record that is read again', () => {
    const { clock, brokersNowMs } = build();
    const appendedAt = brokersNowMs() - 16 * DAY_MS;
    expect(clock.isTooOld(appendedAt)).toBe(false);
    clock.saw(brokersNowMs());
    clock.saw(appendedAt);
    expect(clock.isTooOld(appendedAt)).toBe(true);
  });
});
