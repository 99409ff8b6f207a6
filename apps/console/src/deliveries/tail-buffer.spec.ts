import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { NO_ROWS, type StreamedAttempt, withArrived } from './tail-buffer.js';

function attempts(first: number, count: number): StreamedAttempt[] {
  return Array.from({ length: count }, (_, n) => ({ id: String(first + n), data: {} as StreamedAttempt['data'] }));
}

describe('a live tail', () => {
  it('holds the newest rows in order and counts all, however they arrive', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 12 }), { maxLength: 20 }), (batches) => {
        let tail = NO_ROWS;
        let next = 1;
        for (const size of batches) {
          tail = withArrived(tail, attempts(next, size), 10);
          next += size;
        }
        const seen = next - 1;
        const expected = Array.from({ length: Math.min(seen, 10) }, (_, n) => String(seen - n));
        expect(tail.rows.map(({ id }) => id)).toEqual(expected);
        expect(tail.seen).toBe(seen);
      }),
    );
  });
});
