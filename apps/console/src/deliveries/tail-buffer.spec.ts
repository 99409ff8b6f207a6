import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ArrivedAttempts, NO_ROWS, type StreamedAttempt } from './tail-buffer.js';

function attempts(first: number, count: number): StreamedAttempt[] {
  return Array.from({ length: count }, (_, n) => ({ id: String(first + n), data: {} as StreamedAttempt['data'] }));
}

describe('a live tail', () => {
  it('holds the newest rows in order and counts all, however they arrive', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 12 }), { maxLength: 20 }), (batches) => {
        const arrived = new ArrivedAttempts(10);
        let tail = NO_ROWS;
        let next = 1;
        for (const size of batches) {
          for (const attempt of attempts(next, size)) arrived.add(attempt);
          tail = arrived.moveInto(tail);
          next += size;
        }
        const seen = next - 1;
        const expected = Array.from({ length: Math.min(seen, 10) }, (_, n) => String(seen - n));
        expect(tail.rows.map(({ id }) => id)).toEqual(expected);
        expect(tail.seen).toBe(seen);
      }),
    );
  });

  it('counts what arrives while somebody reads, and holds the newest of it only', () => {
    const arrived = new ArrivedAttempts(1_000);
    const read = attempts(1, 5);
    for (const attempt of read) arrived.add(attempt);
    const before = arrived.moveInto(NO_ROWS);
    for (const attempt of attempts(6, 3_000)) arrived.add(attempt);
    expect(arrived.size).toBe(3_000);

    const after = arrived.moveInto(before);
    expect([after.seen, after.rows.length]).toEqual([3_005, 1_000]);
    expect([after.rows[0]?.id, after.rows.at(-1)?.id]).toEqual(['3005', '2006']);
    expect([arrived.size, arrived.moveInto(after)]).toEqual([0, after]);
  });
});
