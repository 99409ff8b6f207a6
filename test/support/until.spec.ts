import { describe, expect, it } from '@jest/globals';
import { holdsFor, settlesWithin, until } from './until.js';

describe('until', () => {
  it('resolves with the first value that is not false', async () => {
    const values = [false, false, 0, 1] as const;
    let calls = 0;

    expect(await until(() => values[calls++] ?? false)).toBe(0);
    expect(calls).toBe(3);
  });

  it('takes a failed expectation for "not yet"', async () => {
    let calls = 0;

    await until(() => expect(++calls).toBe(3));

    expect(calls).toBe(3);
  });

  it('fails with the last failure, or with the source of the condition', async () => {
    await expect(until(() => Promise.reject(new Error('no such row')), { timeoutMs: 5 })).rejects.toThrow(
      'no such row',
    );
    await expect(until(() => 'abc'.length > 4, { timeoutMs: 5 })).rejects.toThrow("'abc'.length > 4");
  });
});

describe('holdsFor', () => {
  it('fails as soon as the condition does not hold', async () => {
    let calls = 0;

    await expect(holdsFor(60_000, () => ++calls < 3)).rejects.toThrow('++calls < 3');
    expect(calls).toBe(3);
  });

  it('checks at the end of the time too', async () => {
    const startedAt = performance.now();
    let checkedAt = 0;

    await holdsFor(30, () => {
      checkedAt = performance.now();
    });

    expect(checkedAt - startedAt).toBeGreaterThanOrEqual(30);
  });
});

describe('settlesWithin', () => {
  const after = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

  it.each([
    ['true for a promise that resolves first', () => after(20), true],
    ['true for a promise that rejects first', () => Promise.reject(new Error('refused')), true],
    ['false for a promise that settles later', () => after(120), false],
  ])('is %s', async (_case, begin, expected) => {
    expect(await settlesWithin(60, begin())).toBe(expected);
  });

  it('keeps its answer when the process was busy for longer than both', async () => {
    const both = [settlesWithin(60, after(20)), settlesWithin(20, after(60))];
    const busyUntil = performance.now() + 100;
    while (performance.now() < busyUntil);

    expect(await Promise.all(both)).toEqual([true, false]);
  });
});
