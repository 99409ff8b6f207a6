import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { TopicPartition } from '../record.js';
import { assignSticky, type MemberClaim } from './sticky-assignor.js';

const partitions = (count: number): TopicPartition[] =>
  Array.from({ length: count }, (_, partition) => ({ topic: 't', partition }));
const fresh = (...memberIds: string[]): MemberClaim[] =>
  memberIds.map((memberId) => ({ memberId, owned: [], generation: -1 }));

const claimsOf = (assignment: Map<string, TopicPartition[]>, generation: number): MemberClaim[] =>
  [...assignment].map(([memberId, owned]) => ({ memberId, owned, generation }));

describe('sticky assignment', () => {
  it('gives every partition to exactly one member, no member more than one more than another', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 40 }),
        fc.uniqueArray(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 8 }),
        (count, ids) => {
          const assignment = assignSticky(partitions(count), fresh(...ids));
          const sizes = [...assignment.values()].map((list) => list.length);
          expect(
            [...assignment.values()]
              .flat()
              .map(({ partition }) => partition)
              .sort((a, b) => a - b),
          ).toEqual(partitions(count).map(({ partition }) => partition));
          expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
        },
      ),
    );
  });

  it('moves nothing between members that stay when one leaves', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 2, max: 6 }), (count, members) => {
        const ids = Array.from({ length: members }, (_, i) => `m${String(i)}`);
        const before = assignSticky(partitions(count), fresh(...ids));
        const after = assignSticky(partitions(count), claimsOf(before, 1).slice(1));
        for (const memberId of ids.slice(1))
          expect(after.get(memberId)).toEqual(expect.arrayContaining(before.get(memberId) ?? []));
      }),
    );
  });

  it('takes from the members only what a newcomer must get', () => {
    const before = assignSticky(partitions(9), fresh('a', 'b'));
    const after = assignSticky(partitions(9), [...claimsOf(before, 1), ...fresh('c')]);
    const moved = ['a', 'b'].flatMap((id) =>
      (before.get(id) ?? []).filter((p) => !after.get(id)?.some((q) => q.partition === p.partition)),
    );
    expect(moved).toHaveLength(3);
    expect(after.get('c')).toHaveLength(3);
  });

  it('believes the claim of the newer generation when two members claim the same partition', () => {
    const claims: MemberClaim[] = [
      { memberId: 'a', owned: partitions(2), generation: 4 },
      { memberId: 'b', owned: [{ topic: 't', partition: 0 }], generation: 7 },
    ];
    expect(assignSticky(partitions(2), claims).get('b')).toEqual([{ topic: 't', partition: 0 }]);
  });
});
