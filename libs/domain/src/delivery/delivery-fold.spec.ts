import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  DELIVERY_UNSTARTED,
  deliveryFold,
  type DeliveryProgress,
  type FoldedAttempt,
  recordNumber,
} from './delivery-fold.js';

const FIRST_AT = 1_714_564_800_000;

function attemptOf(attempt: number, fields: Partial<FoldedAttempt> = {}): FoldedAttempt {
  const nextDueAt = FIRST_AT + attempt * 10_000;
  const record = { attempt, probe: false, probes: 0, outcome: 'retrying', nextDueAt, firstAttemptAt: FIRST_AT };
  return { ...record, statusCode: 503, ...fields };
}

function fold(records: readonly FoldedAttempt[]): DeliveryProgress {
  return records.reduce(deliveryFold, DELIVERY_UNSTARTED);
}

describe('deliveryFold (R-25)', () => {
  it('starts with nothing known', () => expect(fold([])).toEqual({ type: 'unstarted' }));

  it('keeps the number and due time of the next attempt', () => {
    expect(fold([attemptOf(1), attemptOf(2)])).toEqual({
      type: 'pending',
      nextAttempt: 3,
      probes: 0,
      dueAt: FIRST_AT + 20_000,
      firstAttemptAt: FIRST_AT,
      unauthorizedBefore: false,
    });
  });

  it('can take up the log in the middle', () => {
    expect(fold([attemptOf(3)])).toEqual(fold([attemptOf(1), attemptOf(2), attemptOf(3)]));
  });

  it.each(['delivered', 'failed', 'expired'])('is finished once an attempt is %s, whatever comes after', (outcome) => {
    const last = attemptOf(2, { outcome, nextDueAt: null });

    expect(fold([attemptOf(1), last])).toEqual({ type: 'finished' });
    expect(fold([last, attemptOf(1), attemptOf(3)])).toEqual({ type: 'finished' });
  });

  it('remembers a 401, so that only the first is tried again at once', () => {
    expect(fold([attemptOf(1, { statusCode: 401 }), attemptOf(2)])).toMatchObject({
      nextAttempt: 3,
      unauthorizedBefore: true,
    });
  });

  it('counts probes without using up attempts, and knows when the next one is due (R-29)', () => {
    const probe = (probes: number, attempt: number) => attemptOf(attempt, { probe: true, probes, nextDueAt: probes });
    const log = [probe(1, 1), probe(2, 1), attemptOf(1, { probes: 2 }), attemptOf(2, { probes: 2 }), probe(3, 3)];

    expect(fold(log.slice(0, 2))).toMatchObject({ nextAttempt: 1, probes: 2, dueAt: 2 });
    expect(fold(log.slice(0, 4))).toMatchObject({ nextAttempt: 3, probes: 2 });
    expect(fold(log)).toMatchObject({ nextAttempt: 3, probes: 3, dueAt: 3 });
    expect(fold([...log, ...log.toReversed()])).toEqual(fold(log));
    expect(log.map(recordNumber)).toEqual([1, 2, 3, 4, 5]);
  });

  it('stays the same object when a record was folded before', () => {
    const progress = fold([attemptOf(1), attemptOf(2)]);

    expect(deliveryFold(progress, attemptOf(1))).toBe(progress);
  });

  it('holds a retry without a due time for due at once', () => {
    expect(fold([attemptOf(1, { nextDueAt: null })])).toMatchObject({ dueAt: FIRST_AT });
  });

  it('comes to the same for a log with repeats in any order', () => {
    const logs = fc
      .tuple(
        fc.array(fc.constantFrom(null, 401, 503), { minLength: 1, maxLength: 4 }),
        fc.constantFrom('delivered', 'failed', null),
      )
      .map(([codes, end]) => {
        const retries = codes.map((statusCode, index) => attemptOf(index + 1, { statusCode }));
        return end === null ? retries : [...retries, attemptOf(retries.length + 1, { outcome: end, nextDueAt: null })];
      });
    const logsWithOthers = logs.chain((log) =>
      fc.tuple(
        fc.constant(log),
        fc
          .array(fc.constantFrom(...log))
          .chain((repeats) => fc.shuffledSubarray([...log, ...repeats], { minLength: log.length + repeats.length })),
      ),
    );
    fc.assert(fc.property(logsWithOthers, ([log, other]) => expect(fold(other)).toEqual(fold(log))));
  });
});
