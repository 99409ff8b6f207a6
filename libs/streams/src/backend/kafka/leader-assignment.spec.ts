import { describe, expect, it } from '@jest/globals';
import { assignToMembers } from './leader-assignment.js';
import { decodeAssignment, encodeSubscription } from './member-metadata.js';

const member = (memberId: string) => ({
  memberId,
  memberMetadata: encodeSubscription({ topics: ['pings'], owned: [], generation: -1, revoking: [] }),
});

describe('the assignment by the leader', () => {
  it('gives every partition to one member', async () => {
    const assigned = await assignToMembers([member('a'), member('b')], () => Promise.resolve(4));
    const partitions = assigned.flatMap(({ memberAssignment }) => decodeAssignment(memberAssignment).partitions);
    expect(partitions.map(({ partition }) => partition).sort()).toEqual([0, 1, 2, 3]);
  });

  it('is not made while a broker denies the topic: nobody would have work, and nobody would ask again', async () => {
    await expect(assignToMembers([member('a')], () => Promise.resolve(null))).rejects.toMatchObject({
      code: 'TOPIC_MISSING',
    });
  });
});
