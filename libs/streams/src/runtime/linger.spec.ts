import { describe, expect, it } from '@jest/globals';
import { Linger, lingerFor } from './linger.js';

describe('the wait after a small commit', () => {
  it.each([1, 2, 4, 10])(
    'is short where a topic has %i partitions, which cannot make many transactions',
    (partitions) => {
      expect(lingerFor(partitions)).toBe(10);
    },
  );

  it.each([20, 100, 256, 500])('leaves %i partitions together a thousand transactions per second', (partitions) => {
    expect((1_000 * partitions) / lingerFor(partitions)).toBe(1_000);
  });

  it('never adds more than half a second to the latency of a record', () => {
    expect(lingerFor(1_000)).toBe(500);
    expect(lingerFor(10_000)).toBe(500);
  });
});

describe('the wait of one task', () => {
  /** Commits in a row, each of which finds the one before complete `completionMs` after its end. @returns the waits */
  function waits(leastMs: number, completionMs: number, commits: number): number[] {
    const linger = new Linger(leastMs);
    return Array.from({ length: commits }, () => {
      linger.committed(Math.max(0, completionMs - linger.ms));
      return linger.ms;
    });
  }

  it('stays the least one while transactions are complete before the next begins', () => {
    expect(waits(10, 8, 20).every((waitMs) => waitMs === 10)).toBe(true);
  });

  it('grows to the time that the brokers take, so that commits seldom wait for the one before', () => {
    const settled = waits(256, 1_200, 50).slice(-20);
    expect(Math.max(...settled)).toBe(1_200);
    expect(Math.min(...settled)).toBeGreaterThanOrEqual(0.75 * 1_200);
  });

  it('goes back to the least one within a second of waiting after the brokers were slow once', () => {
    const linger = new Linger(10);
    linger.committed(200);
    let waitedMs = 0;
    while (linger.ms > 10) {
      linger.committed(0);
      waitedMs += linger.ms;
    }
    expect(waitedMs).toBeLessThan(1_000);
  });

  it('is at most two seconds, since a task that waits sends nothing', () => {
    expect(waits(10, 60_000, 5).at(-1)).toBe(2_000);
  });
});
