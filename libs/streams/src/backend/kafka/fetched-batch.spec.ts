import Module from 'node:module';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { crc32c } from '../../protocol/crc32c.js';
import { type FetchedBatch, fetchedBatch } from './fetched-batch.js';
import { ResponseBufferPool } from './kafkajs/response-buffer-pool.js';
import { fetchedResponse, RESPONSE_BYTES } from './testing/fetched-response.js';

const CRC_AT = 17;
const ATTRIBUTES_AT = 21;
const LAST_OFFSET_DELTA_AT = 23;
const SNAPPY = 2;

let memory: ResponseBufferPool;

beforeEach(() => {
  memory = new ResponseBufferPool();
});
afterEach(() => {
  jest.restoreAllMocks();
});

function batchesOf(...texts: (string | null)[]): { batches: FetchedBatch[]; isFree: () => boolean } {
  const partitions = fetchedResponse(memory, texts);
  const used = partitions[0]?.data.buffer;
  return {
    batches: partitions.map((fetched) => fetchedBatch(fetched, 0)),
    isFree: () => memory.take(RESPONSE_BYTES).buffer === used,
  };
}

describe('a fetched batch', () => {
  it('shares its memory with the other partitions of the response, and counts repeated releases once', () => {
    const { batches, isFree } = batchesOf('one', 'other');
    batches[0]?.release?.();
    batches[0]?.release?.();
    expect(isFree()).toBe(false);
    batches[1]?.release?.();
    expect(isFree()).toBe(true);
  });

  it('keeps no memory from the others when it brings nothing itself', () => {
    const { batches, isFree } = batchesOf(null, 'one', null);
    batches[1]?.release?.();
    expect(isFree()).toBe(true);
  });

  it('names the package of its codec that is not installed', () => {
    jest.spyOn(Module.prototype, 'require').mockImplementationOnce(() => {
      throw new Error('not found');
    });
    const [fetched] = fetchedResponse(memory, ['one']);
    if (!fetched) throw new Error('There is no batch.');
    const { data } = fetched;
    data.writeInt16BE(data.readInt16BE(ATTRIBUTES_AT) | SNAPPY, ATTRIBUTES_AT);
    data.writeUInt32BE(crc32c(data.subarray(ATTRIBUTES_AT)), CRC_AT);
    const batch = fetchedBatch(fetched, 0);
    const fix =
      'cannot be decoded: The package snappy is not installed: npm install snappy. Install it and restart, or skip';
    expect(() => batch.records).toThrow(
      expect.objectContaining({
        code: 'CODEC_MISSING',
        message: expect.stringContaining(fix),
        cause: expect.anything(),
        undecoded: { partition: 'a topic-0', offset: 0, nextOffset: 1, timestamp: expect.any(Number) },
      }),
    );
  });

  it('claims no records beyond the end of the log when its length is what is corrupt', () => {
    const [fetched] = fetchedResponse(memory, ['one']);
    if (!fetched) throw new Error('There is no batch.');
    fetched.data.writeInt32BE(4_096, LAST_OFFSET_DELTA_AT);
    const undecoded = expect.objectContaining({ offset: 0, nextOffset: 2 });
    expect(() => fetchedBatch({ ...fetched, highWatermark: 2 }, 0)).toThrow(expect.objectContaining({ undecoded }));
  });

  it('cannot be read after its release', () => {
    const { batches } = batchesOf('one');
    expect(batches[0]?.records.map(({ value }) => String(value))).toEqual(['one']);
    const [again] = batchesOf('one').batches;
    again?.release?.();
    expect(() => again?.records).toThrow('read after its release');
  });
});
