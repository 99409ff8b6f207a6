import { describe, expect, it } from '@jest/globals';
import { earlyDeathsAfter, restartDelayMs } from './managed-process.js';

function delaysAfterLives(livesMs: readonly number[]): number[] {
  let deaths = 0;
  return livesMs.map((livedMs) => {
    deaths = earlyDeathsAfter(livedMs, deaths);
    return restartDelayMs(deaths);
  });
}

describe('the delay before a restart', () => {
  it('is 100 ms at first and doubles while the process keeps dying early, up to 5 s', () => {
    expect(delaysAfterLives(Array<number>(8).fill(500))).toEqual([100, 200, 400, 800, 1600, 3200, 5000, 5000]);
  });

  it('is 100 ms again after 30 s of life', () => {
    expect(delaysAfterLives([500, 500, 29_999, 30_000, 500])).toEqual([100, 200, 400, 100, 200]);
  });

  it('stays at 5 s however often the process has died', () => expect(restartDelayMs(5_000)).toBe(5_000));
});
