import { beforeEach, describe, expect, it } from '@jest/globals';
import { FetchedBatch } from './fetched-batch.js';
import { ResponseBufferPool } from './kafkajs/response-buffer-pool.js';
import { fetchedResponse, RESPONSE_BYTES } from './testing/fetched-response.js';

let memory: ResponseBufferPool;

beforeEach(() => {
  memory = new ResponseBufferPool();
});

function batchesOf(...texts: (string | null)[]): { batches: FetchedBatch[]; isFree: () => boolean } {
  const partitions = fetchedResponse(memory, texts);
  const used = partitions[0]?.data.buffer;
  return {
    batches: partitions.map((fetched) => new FetchedBatch(fetched, 0)),
    isFree: () => memory.take(RESPONSE_BYTES).buffer === used,
  };
}

describe('a fetched batch', () => {
  it('shares its memory with the other partitions of the response, and counts repeated releases once', () => {
    const { batches, isFree } = batchesOf('one', 'other');
    batches[0]?.release();
    batches[0]?.release();
    expect(isFree()).toBe(false);
    batches[1]?.release();
    expect(isFree()).toBe(true);
  });

  it('keeps no memory from the others when it brings nothing itself', () => {
    const { batches, isFree } = batchesOf(null, 'one', null);
    batches[1]?.release();
    expect(isFree()).toBe(true);
  });

  it('cannot be read after its release', () => {
    const { batches } = batchesOf('one');
    expect(batches[0]?.records.map(({ value }) => String(value))).toEqual(['one']);
    const [again] = batchesOf('one').batches;
    again?.release();
    expect(() => again?.records).toThrow('written over');
  });
});
