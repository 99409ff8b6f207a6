import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { PartitionProgress } from '@waypost/platform/without-nest';
import { createIdleDetector, describeLag, lagOf } from './wait.js';

function progress(more: Partial<PartitionProgress>): PartitionProgress {
  return { groupId: 'g', topic: 't', partition: 0, startOffset: 0, endOffset: 0, committedOffset: null, ...more };
}

const done = [progress({ endOffset: 5, committedOffset: 5 })];
const behind = [progress({ endOffset: 5, committedOffset: 5 }), progress({ endOffset: 9, committedOffset: 8 })];

describe('The lag of a group on a partition', () => {
  it.each<[string, Partial<PartitionProgress>, number]>([
    ['none on a partition never written', {}, 0],
    ['none when everything that it would read has aged out', { startOffset: 7, endOffset: 7 }, 0],
    ['everything kept when nothing was ever committed', { startOffset: 2, endOffset: 7 }, 5],
    ['none when the commit is at the end, markers included', { endOffset: 7, committedOffset: 7 }, 0],
    ['a lag', { endOffset: 7, committedOffset: 3 }, 4],
    ['none when the commit overtook the end that was read before', { endOffset: 7, committedOffset: 9 }, 0],
  ])('is %s', (_what, more, expected) => expect(lagOf(progress(more))).toBe(expected));
});

describe('The idle detector', () => {
  it('is content after every look of the whole time found nothing', () => {
    const detector = createIdleDetector(1_000);
    expect(detector.observe(0, done)).toBe(false);
    expect(detector.observe(999, done)).toBe(false);
    expect(detector.observe(1_000, done)).toBe(true);
  });

  it.each([
    ['work', behind],
    ['a look that failed', null],
  ])('starts again after %s', (_what, interruption) => {
    const detector = createIdleDetector(1_000);
    detector.observe(0, done);
    expect(detector.observe(900, interruption)).toBe(false);
    expect(detector.observe(1_000, done)).toBe(false);
    expect(detector.observe(1_999, done)).toBe(false);
    expect(detector.observe(2_000, done)).toBe(true);
  });

  it('is never content within the idle time of a look that found work', () => {
    const looks = fc.array(fc.record({ afterMs: fc.integer({ min: 1, max: 600 }), busy: fc.boolean() }));
    fc.assert(
      fc.property(looks, fc.integer({ min: 1, max: 2_000 }), (sequence, idleMs) => {
        const detector = createIdleDetector(idleMs);
        let nowMs = 0;
        let quietSince: number | null = null;
        for (const { afterMs, busy } of sequence) {
          nowMs += afterMs;
          quietSince = busy ? null : (quietSince ?? nowMs);
          const expected = quietSince !== null && nowMs - quietSince >= idleMs;
          expect(detector.observe(nowMs, busy ? behind : done)).toBe(expected);
        }
      }),
    );
  });
});

describe('The remaining work', () => {
  it('is said by group, in records', () => {
    const groups = [
      progress({ groupId: 'a', endOffset: 3 }),
      progress({ groupId: 'a', partition: 1, endOffset: 4, committedOffset: 2 }),
      progress({ groupId: 'b', endOffset: 1, committedOffset: 1 }),
    ];
    expect(describeLag(groups)).toBe('a 5');
    expect(describeLag(done)).toBe('nothing');
  });
});
