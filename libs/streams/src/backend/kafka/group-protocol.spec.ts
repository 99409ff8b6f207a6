import { describe, expect, it } from '@jest/globals';
import {
  assignToMembers,
  decodeAssignment,
  decodeSubscription,
  encodeAssignment,
  encodeSubscription,
} from './group-protocol.js';

function at(topic: string, partition: number) {
  return { topic, partition };
}

describe('what members of a group tell each other', () => {
  it('carries the partitions a member owns and is releasing, with their generations', () => {
    const subscription = {
      topics: ['pings', 'tones'],
      generation: 12,
      owned: [at('pings', 0), at('pings', 3), at('tones', 1)],
      revoking: [
        { ...at('pings', 2), generation: 11 },
        { ...at('tones', 0), generation: 9 },
      ],
    };
    expect(decodeSubscription(encodeSubscription(subscription))).toEqual(subscription);
  });

  it('carries the partitions that a member gets and those it must release', () => {
    const share = { partitions: [at('pings', 1)], awaited: [at('pings', 4), at('tones', 0)] };
    expect(decodeAssignment(encodeAssignment(share))).toEqual(share);
  });

  it('reads an assignment of nothing', () => {
    expect(decodeAssignment(Buffer.alloc(0))).toEqual({ partitions: [], awaited: [] });
  });
});

function member(memberId: string) {
  return {
    memberId,
    memberMetadata: encodeSubscription({ topics: ['pings'], owned: [], generation: -1, revoking: [] }),
  };
}

describe('the assignment by the leader', () => {
  it('gives every partition to one member', async () => {
    const assigned = await assignToMembers([member('a'), member('b')], () => Promise.resolve(4));
    const partitions = assigned.flatMap(({ memberAssignment }) => decodeAssignment(memberAssignment).partitions);
    expect(partitions.map(({ partition }) => partition).sort()).toEqual([0, 1, 2, 3]);
  });

  it('is not made while a broker denies the topic, since no member would get work or ask again', async () => {
    await expect(assignToMembers([member('a')], () => Promise.resolve(null))).rejects.toMatchObject({
      code: 'TOPIC_MISSING',
    });
  });
});
