import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Partitioners } from 'kafkajs';
import { partitionForKey } from './partitioner.js';

describe('the partitioner', () => {
  it('puts every key where the default partitioner of the other clients puts it', () => {
    const theirs = Partitioners.DefaultPartitioner();
    const partitionMetadata = Array.from({ length: 12 }, (_, partitionId) => ({
      partitionId,
      leader: 1,
      partitionErrorCode: 0,
      replicas: [],
      isr: [],
    }));
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 64 }), (bytes) => {
        const key = Buffer.from(bytes);
        expect(partitionForKey(key, 12)).toBe(theirs({ topic: 't', partitionMetadata, message: { key, value: null } }));
      }),
    );
  });
});
