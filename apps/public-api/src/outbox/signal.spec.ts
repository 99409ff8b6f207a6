import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { createSignal, type Signal } from './signal.js';

const LONG_MS = 60_000;
let signal: Signal;

beforeEach(() => {
  jest.useFakeTimers();
  signal = createSignal();
  signal.arm();
});
afterEach(() => {
  jest.useRealTimers();
});

/** Whether the loop goes on, after that time. */
async function goesOnWithin(ms: number): Promise<boolean> {
  let goesOn = false;
  void signal.wait(LONG_MS).then(() => (goesOn = true));
  await jest.advanceTimersByTimeAsync(ms);
  return goesOn;
}

describe('a loop that sleeps until it is woken', () => {
  it('goes on at once when it was woken after it had looked, and before it slept', async () => {
    signal.wake();
    expect(await goesOnWithin(0)).toBe(true);
  });

  it('goes on at once when it is woken in its sleep, and leaves no timer', async () => {
    expect(await goesOnWithin(100)).toBe(false);
    signal.wake();
    await jest.advanceTimersByTimeAsync(0);
    expect(jest.getTimerCount()).toBe(0);
    signal.arm();
    expect(await goesOnWithin(100)).toBe(false);
  });

  it('sleeps its time when it was woken only before it looked', async () => {
    signal.wake();
    signal.arm();
    expect(await goesOnWithin(LONG_MS - 1)).toBe(false);
    await jest.advanceTimersByTimeAsync(1);
    expect(jest.getTimerCount()).toBe(0);
  });
});
