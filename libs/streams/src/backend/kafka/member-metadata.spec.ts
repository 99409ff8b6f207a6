import { describe, expect, it } from '@jest/globals';
import { decodeAssignment, decodeSubscription, encodeAssignment, encodeSubscription } from './member-metadata.js';

const at = (topic: string, partition: number) => ({ topic, partition });

describe('what members of a group tell each other', () => {
  it('carries what a member has, what it still lets go of, and since when', () => {
    const subscription = {
      ...{ topics: ['pings', 'tones'], generation: 12 },
      owned: [at('pings', 0), at('pings', 3), at('tones', 1)],
      revoking: [
        { ...at('pings', 2), generation: 11 },
        { ...at('tones', 0), generation: 9 },
      ],
    };
    expect(decodeSubscription(encodeSubscription(subscription))).toEqual(subscription);
  });

  it('carries what a member gets and what it is waited for', () => {
    const share = { partitions: [at('pings', 1)], awaited: [at('pings', 4), at('tones', 0)] };
    expect(decodeAssignment(encodeAssignment(share))).toEqual(share);
  });

  it('reads an assignment of nothing', () => {
    expect(decodeAssignment(Buffer.alloc(0))).toEqual({ partitions: [], awaited: [] });
  });
});
