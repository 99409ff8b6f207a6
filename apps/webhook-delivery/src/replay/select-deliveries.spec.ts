import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { DeliveryStatus } from '@waypost/domain';
import { createDeliveryMarks } from './select-deliveries.js';

const status = fc.constantFrom<DeliveryStatus>('pending', 'delivered', 'failed');
const offset = fc.oneof(fc.nat({ max: 3_000 }), fc.integer({ min: 2 ** 40, max: 2 ** 40 + 2_000 }));

describe('the marks of deliveries', () => {
  it('remember the last status of each offset, and nothing else', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(offset, status), { maxLength: 300 }), status, (marked, wanted) => {
        const marks = createDeliveryMarks();
        const expected = new Map<number, DeliveryStatus>();
        for (const [at, as] of marked) {
          marks.mark(at, as);
          expected.set(at, as);
        }
        const offsets = [...expected].filter(([, as]) => as === wanted).map(([at]) => at);
        const selection = marks.select((as) => as === wanted);
        expect(selection.matched).toBe(offsets.length);
        expect(selection.first).toBe(offsets.length === 0 ? -1 : Math.min(...offsets));
        expect(selection.last).toBe(offsets.length === 0 ? -1 : Math.max(...offsets));
        for (const [at, as] of expected) expect(selection.has(at)).toBe(as === wanted);
        for (let at = 0; at < 3_000; at += 7) expect(selection.has(at)).toBe(expected.get(at) === wanted);
      }),
      { numRuns: 50 },
    );
  });
});
