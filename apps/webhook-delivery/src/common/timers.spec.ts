import { describe, expect, it } from '@jest/globals';
import { createDueTimers } from './timers.js';

function build() {
  let now = 1_000;
  const armed: { at: number; run: () => void }[] = [];
  const timers = createDueTimers(
    {
      after: (delayMs, run) => {
        const timer = { at: now + delayMs, run };
        armed.push(timer);
        return () => void armed.splice(armed.indexOf(timer), 1);
      },
    },
    () => now,
  );
  const fireAt = (time: number): void => {
    now = time;
    for (const timer of armed.splice(0)) timer.run();
  };
  return { timers, fireAt, armed };
}

describe('due timers', () => {
  it('run a callback at once that is already due', () => {
    const ran: string[] = [];
    build().timers.at(999, () => void ran.push('now'));
    expect(ran).toEqual(['now']);
  });

  it('never run before the due time, even when the timer fires early', () => {
    const { timers, fireAt } = build();
    const ran: string[] = [];
    timers.at(3_000, () => void ran.push('due'));
    fireAt(2_999);
    expect(ran).toEqual([]);
    fireAt(3_000);
    expect(ran).toEqual(['due']);
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
