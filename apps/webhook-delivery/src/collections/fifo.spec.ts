import { describe, expect, it } from '@jest/globals';
import { Fifo } from './fifo.js';

const ITEMS = 5_000;

function numbers(): number[] {
  return Array.from({ length: ITEMS }, (_, n) => n);
}

describe('a queue', () => {
  it('returns thousands of items in order, each once', () => {
    const queue = new Fifo<number>();
    for (const n of numbers()) queue.push(n);
    expect(numbers().map(() => queue.shift())).toEqual(numbers());
    expect([queue.length, queue.peek(), queue.shift()]).toEqual([0, undefined, undefined]);
  });

  it('does so while more come in, and knows its length and its first item throughout', () => {
    const queue = new Fifo<number>();
    const seen: unknown[] = [];
    for (const n of numbers()) {
      queue.push(n);
      // One stays behind for every two that come.
      if (n % 2 === 1) seen.push([queue.length, queue.peek(), queue.shift()]);
    }
    expect(seen).toEqual(Array.from({ length: ITEMS / 2 }, (_, taken) => [taken + 2, taken, taken]));
    const rest = Array.from({ length: queue.length }, () => queue.shift());
    expect(rest).toEqual(numbers().slice(ITEMS / 2));
  });
});
