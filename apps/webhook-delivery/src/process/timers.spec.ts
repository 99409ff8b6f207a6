import { describe, expect, it } from '@jest/globals';
import { createDueTimers } from './timers.js';

function build() {
  let monotonicMs = 1_000;
  const armed: { at: number; run: () => void }[] = [];
  const cancelled: number[] = [];
  const timers = createDueTimers(
    {
      after: (delayMs, run) => {
        const timer = { at: monotonicMs + delayMs, run };
        armed.push(timer);
        return () => {
          cancelled.push(timer.at);
          armed.splice(armed.indexOf(timer), 1);
        };
      },
    },
    () => monotonicMs,
  );
  const fireAt = (time: number): void => {
    monotonicMs = time;
    for (const timer of armed.splice(0)) timer.run();
  };
  return { timers, fireAt, armed, cancelled };
}

describe('due timers', () => {
  it('run a callback at once that is already due', () => {
    const ran: string[] = [];
    const { timers } = build();
    timers.at(999, () => void ran.push('past'));
    timers.at(1_000, () => void ran.push('now'));
    expect(ran).toEqual(['past', 'now']);
  });

  it('never run before the due time, even when the timer fires early', () => {
    const { timers, fireAt, armed } = build();
    const ran: string[] = [];
    timers.at(3_000, () => void ran.push('due'));
    fireAt(2_999);
    expect(ran).toEqual([]);
    expect(armed.map(({ at }) => at)).toEqual([3_000]);
    fireAt(3_000);
    expect(ran).toEqual(['due']);
  });

  it('wait for whole milliseconds, since a timer that is armed for less fires early and is armed twice', () => {
    const { timers, armed } = build();
    timers.at(3_000.4, () => undefined);
    expect(armed.map(({ at }) => at)).toEqual([3_001]);
  });

  it('cancel only what still waits', () => {
    const { timers, fireAt, cancelled } = build();
    timers.at(2_000, () => undefined);
    fireAt(2_000);
    timers.at(3_000, () => undefined);
    timers.clear();
    expect(cancelled).toEqual([3_000]);
  });

  it('run nothing after clear()', () => {
    const { timers, fireAt, armed } = build();
    const ran: string[] = [];
    timers.at(3_000, () => void ran.push('late'));
    timers.clear();
    fireAt(9_000);
    timers.at(0, () => void ran.push('later still'));
    expect([ran, armed]).toEqual([[], []]);
  });
});
