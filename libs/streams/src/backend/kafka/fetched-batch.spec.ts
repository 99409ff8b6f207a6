import { describe, expect, it } from '@jest/globals';
import { FetchedBatch } from './fetched-batch.js';
import { ResponseMemory } from './response-memory.js';

const MIB = 1024 * 1024;

/** Of a partition of which the response brought nothing but its part of the memory. */
const batchOf = (data: Buffer): FetchedBatch =>
  new FetchedBatch(
    { topic: 't', partition: 0, errorCode: 0, highWatermark: 0, lastStableOffset: 0, aborted: [], data },
    0,
  );

describe('a fetched batch', () => {
  it('shares its memory with the other partitions of the response, and counts once however often it lets go', () => {
    const memory = new ResponseMemory();
    const response = memory.take(MIB);
    const isFree = (): boolean => memory.take(MIB).buffer === response.buffer;
    const [one, other] = [batchOf(response.subarray(0, 0)), batchOf(response.subarray(MIB))] as const;
    one.release();
    one.release();
    expect(isFree()).toBe(false);
    other.release();
    expect(isFree()).toBe(true);
  });

  it('of a small response has nothing to give back', () => {
    const memory = new ResponseMemory();
    const batch = batchOf(memory.take(1_000).subarray(0, 0));
    expect(() => {
      batch.release();
    }).not.toThrow();
  });
});
