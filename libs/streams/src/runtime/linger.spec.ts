import { describe, expect, it } from '@jest/globals';
import { lingerFor } from './linger.js';

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
