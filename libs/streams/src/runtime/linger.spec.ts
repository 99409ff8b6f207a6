import { describe, expect, it } from '@jest/globals';
import { lingerFor, untilNextTurn } from './linger.js';

describe('the wait after a small commit', () => {
  it.each([1, 2, 4, 6])(
    'is short where a topic has %i partitions, which cannot make many transactions',
    (partitions) => {
      expect(lingerFor(partitions)).toBe(10);
    },
  );

  it.each([20, 100, 256, 333])('leaves %i partitions together less than 850 commits per second', (partitions) => {
    const commitsPerSecond = (1_000 * partitions) / lingerFor(partitions);
    expect(commitsPerSecond).toBeLessThan(850);
    expect(commitsPerSecond).toBeGreaterThan(650);
  });

  it('never adds more than half a second to the latency of a record', () => {
    expect(lingerFor(1_000)).toBe(500);
    expect(lingerFor(10_000)).toBe(500);
  });
});

describe('the wait of the tasks of a process', () => {
  it('ends for all of them at the same moment, which comes within the time', () => {
    for (let now = 1_000; now < 1_020; now += 0.3) {
      const waitMs = untilNextTurn(now, 10);
      expect(waitMs).toBeGreaterThan(0);
      expect(waitMs).toBeLessThanOrEqual(10);
      expect(((now + waitMs) / 10) % 1).toBeCloseTo(0);
    }
  });

  it('is none where there is nothing to wait for', () => {
    expect(untilNextTurn(1_003, 0)).toBe(0);
  });
});
