import { describe, expect, it } from '@jest/globals';
import { waitUntil } from './wait-until.js';

describe('waitUntil', () => {
  it('resolves to the first success', async () => {
    let calls = 0;
    const attempt = () => ((calls += 1) < 3 ? Promise.reject(new Error('not yet')) : Promise.resolve(calls));
    expect(await waitUntil(attempt, { timeoutMs: 10_000, intervalMs: 0 })).toBe(3);
  });

  it('fails with the last error when the time is over', async () => {
    let clockMs = 0;
    const attempt = () => Promise.reject(new Error(`failure at ${String(clockMs)}`));
    const now = () => (clockMs += 50);
    await expect(waitUntil(attempt, { timeoutMs: 100, intervalMs: 0, now })).rejects.toThrow(/^failure at 1\d\d$/);
  });

  it('does not wait for an attempt that never ends', async () => {
    const never = () => new Promise<void>(() => undefined);
    await expect(waitUntil(never, { timeoutMs: 20 })).rejects.toThrow('has not ended in time');
  });

  it('ends with the reason of its signal', async () => {
    const stop = new AbortController();
    const waiting = waitUntil(() => Promise.reject(new Error('not yet')), {
      timeoutMs: 60_000,
      intervalMs: 0,
      signal: stop.signal,
    });
    stop.abort(new Error('stopped'));
    await expect(waiting).rejects.toMatchObject({ name: expect.stringMatching(/^(AbortError|Error)$/) });
  });
});
