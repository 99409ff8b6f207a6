import { beforeEach, describe, expect, it } from '@jest/globals';
import { BusyAttempts } from './busy-attempts.js';

let monotonicMs: number;
let armed: { readonly at: number; readonly run: () => void }[];
let freed: string[];
let busy: BusyAttempts;

beforeEach(() => {
  [monotonicMs, armed, freed] = [1_000, [], []];
  const after = (delayMs: number, run: () => void) => {
    armed.push({ at: monotonicMs + delayMs, run });
    return () => undefined;
  };
  busy = new BusyAttempts({ after }, () => monotonicMs);
});

function passTo(time: number): void {
  for (let next = armed[0]; next && next.at <= time; next = armed[0]) {
    armed.shift();
    monotonicMs = next.at;
    next.run();
  }
  monotonicMs = time;
}

/** An attempt that has taken its slot now. */
function take(name: string) {
  const attempt = {
    busySinceMs: monotonicMs as number | null,
    answered: () => {
      attempt.busySinceMs = null;
      freed.push(name);
    },
  };
  busy.add(attempt);
  return attempt;
}

describe('attempts without a status line (R-26)', () => {
  it('lose their slots after 25 ms, each in its turn, by one timer at a time', () => {
    take('a');
    passTo(1_010);
    take('b');
    expect(armed).toHaveLength(1);
    passTo(1_024);
    expect(freed).toEqual([]);
    passTo(1_025);
    expect(freed).toEqual(['a']);
    expect(armed.map(({ at }) => at)).toEqual([1_035]);
    passTo(1_035);
    expect([freed, armed]).toEqual([['a', 'b'], []]);
  });

  it('are looked at again when the next one takes a slot', () => {
    take('a');
    passTo(1_100);
    take('b');
    passTo(1_125);
    expect(freed).toEqual(['a', 'b']);
  });

  it('are left alone when they have their status line, or a slot for their next attempt', () => {
    const [answered, again] = [take('answered'), take('again')];
    passTo(1_010);
    answered.busySinceMs = null;
    again.busySinceMs = monotonicMs;
    busy.add(again);
    passTo(1_034);
    expect(freed).toEqual([]);
    passTo(1_035);
    expect(freed).toEqual(['again']);
  });
});
