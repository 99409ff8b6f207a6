import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { TopicPartition } from '../record.js';
import {
  assignCooperatively,
  assignPartitions,
  assignSticky,
  type CooperativeClaim,
  type MemberAssignment,
  type MemberClaim,
} from './cooperative-assignor.js';

function at(...numbers: number[]): TopicPartition[] {
  return numbers.map((partition) => ({ topic: 't', partition }));
}
function claim(memberId: string, fields: Partial<CooperativeClaim> = {}): CooperativeClaim {
  return { memberId, topics: ['t'], owned: [], generation: -1, revoking: [], ...fields };
}
function numbers(partitions: readonly TopicPartition[] | undefined): number[] {
  return (partitions ?? []).map(({ partition }) => partition).sort();
}
function given(shares: Map<string, MemberAssignment>, memberId: string): number[] {
  return numbers(shares.get(memberId)?.partitions);
}
function awaited(shares: Map<string, MemberAssignment>, memberId: string): number[] {
  return numbers(shares.get(memberId)?.awaited);
}

describe('the assignment of topics together', () => {
  const topics = ['t', 'u'];
  const both = (...partitions: number[]) => topics.flatMap((topic) => at(...partitions).map((p) => ({ ...p, topic })));

  it('gives all partitions of one number to one member', () => {
    const shares = assignPartitions(both(0, 1, 2), [claim('a', { topics }), claim('b', { topics })], 't');
    for (const memberId of ['a', 'b']) {
      const own = shares.get(memberId)?.partitions ?? [];
      const ofTopic = (topic: string) => numbers(own.filter((partition) => partition.topic === topic));
      expect(ofTopic('u')).toEqual(ofTopic('t'));
    }
    expect([...given(shares, 'a'), ...given(shares, 'b')].sort()).toEqual([0, 0, 1, 1, 2, 2]);
  });

  it('moves them together: to the next member only when the first topic is released', () => {
    const owner = claim('a', { topics, owned: both(0, 1), generation: 4 });
    const shares = assignPartitions(both(0, 1), [owner, claim('b', { topics })], 't');
    const [kept] = given(shares, 'a');
    expect(shares.get('a')?.partitions).toEqual(both(kept ?? 0));
    expect([given(shares, 'b'), awaited(shares, 'a')]).toEqual([[], [1 - (kept ?? 0)]]);
  });

  it('leaves out topics that a member does not read, and partitions that do not exist', () => {
    const shares = assignPartitions(
      [...at(0, 1), { topic: 'u', partition: 0 }],
      [claim('a', { topics, owned: at(1), generation: 1 }), claim('b', { owned: at(0), generation: 1 })],
      't',
    );
    expect([shares.get('a')?.partitions, shares.get('b')?.partitions]).toEqual([at(1), at(0)]);
  });
});

describe('cooperative assignment', () => {
  it('revokes a partition in one rebalance and assigns it in the next', () => {
    const first = assignCooperatively(at(0, 1), [claim('a', { owned: at(0, 1), generation: 4 }), claim('b')]);
    const [kept] = given(first, 'a');
    expect(given(first, 'b')).toEqual([]);
    expect(awaited(first, 'a')).toEqual([1 - (kept ?? 0)]);
    const second = assignCooperatively(at(0, 1), [
      claim('a', { owned: at(kept ?? 0), generation: 5 }),
      claim('b', { generation: 5 }),
    ]);
    expect(given(second, 'a')).toEqual([kept]);
    expect(given(second, 'b')).toEqual([1 - (kept ?? 0)]);
    expect(awaited(second, 'a')).toEqual([]);
  });

  it('assigns no partition that a member is still revoking, whatever rebalance comes in between', () => {
    const revoking = [{ topic: 't', partition: 1, generation: 4 }];
    const shares = assignCooperatively(at(0, 1, 2), [
      claim('a', { owned: at(0), generation: 5, revoking }),
      claim('b', { owned: at(2), generation: 5 }),
      claim('c'),
    ]);
    expect(['a', 'b', 'c'].flatMap((memberId) => given(shares, memberId))).not.toContain(1);
    expect(awaited(shares, 'a')).toEqual([1]);
  });

  it('returns a partition to the member that is revoking it when the others are gone', () => {
    const revoking = [{ topic: 't', partition: 1, generation: 4 }];
    const shares = assignCooperatively(at(0, 1), [claim('a', { owned: at(0), generation: 5, revoking })]);
    expect(given(shares, 'a')).toEqual([0, 1]);
    expect(awaited(shares, 'a')).toEqual([]);
  });

  it('moves at once what no member of this join claims', () => {
    const shares = assignCooperatively(at(0, 1), [claim('b', { owned: at(1), generation: 4 })]);
    expect(given(shares, 'b')).toEqual([0, 1]);
  });

  it('lets a member that returns after its session neither delay nor displace the present owner', () => {
    const zombie = claim('a', { owned: at(0), generation: 3, revoking: [{ topic: 't', partition: 1, generation: 2 }] });
    const owner = claim('b', { owned: at(0, 1), generation: 6 });
    const shares = assignCooperatively(at(0, 1), [zombie, owner]);
    expect(awaited(shares, 'a')).toEqual([]);
    expect([...given(shares, 'b'), ...awaited(shares, 'b')].sort()).toEqual([0, 1]);
    expect(given(shares, 'a')).toEqual([]);
  });

  it('accepts the only claim although its member has missed a generation', () => {
    const shares = assignCooperatively(at(0, 1), [
      claim('a', { owned: at(0, 1), generation: 6 }),
      claim('b', { owned: [], generation: 7 }),
    ]);
    expect(given(shares, 'b')).toEqual([]);
    expect(awaited(shares, 'a')).toHaveLength(1);
  });

  it('ignores claims for partitions that do not exist', () => {
    const shares = assignCooperatively(at(0), [claim('a', { owned: at(0, 7), generation: 1 }), claim('b')]);
    expect(given(shares, 'a')).toEqual([0]);
    expect(awaited(shares, 'a')).toEqual([]);
  });

  it('waits for both when a group has lost its generation and two claim a partition as newest', () => {
    const revoking = [{ topic: 't', partition: 0, generation: 2 }];
    const shares = assignCooperatively(at(0), [
      claim('a', { generation: 3, revoking }),
      claim('b', { generation: 3, revoking }),
      claim('Z', { generation: 3 }), // sorts before them, so the partition is meant for it
    ]);
    expect(given(shares, 'Z')).toEqual([]);
    expect(awaited(shares, 'a')).toEqual([0]);
    expect(awaited(shares, 'b')).toEqual([0]);
  });
});

function partitions(count: number): TopicPartition[] {
  return Array.from({ length: count }, (_, partition) => ({ topic: 't', partition }));
}
function fresh(...memberIds: string[]): MemberClaim[] {
  return memberIds.map((memberId) => ({ memberId, owned: [], generation: -1 }));
}

function claimsOf(assignment: Map<string, TopicPartition[]>, generation: number): MemberClaim[] {
  return [...assignment].map(([memberId, owned]) => ({ memberId, owned, generation }));
}

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

  it('gives back to a member that has restarted what the others took over from it', () => {
    const before = assignSticky(partitions(12), fresh('a', 'b', 'c'));
    for (const restarted of ['a', 'b', 'c']) {
      const claims = claimsOf(before, 1).filter(({ memberId }) => memberId !== restarted);
      const without = assignSticky(partitions(12), claims);
      const after = assignSticky(partitions(12), [...claimsOf(without, 2), ...fresh(restarted)]);
      for (const [memberId, share] of before) expect(numbers(after.get(memberId))).toEqual(numbers(share));
    }
  });

  it('believes the claim of the newer generation when two members claim the same partition', () => {
    const claims: MemberClaim[] = [
      { memberId: 'a', owned: partitions(2), generation: 4 },
      { memberId: 'b', owned: [{ topic: 't', partition: 0 }], generation: 7 },
    ];
    expect(assignSticky(partitions(2), claims).get('b')).toEqual([{ topic: 't', partition: 0 }]);
  });
});
