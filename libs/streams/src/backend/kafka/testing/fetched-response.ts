import type { FetchedPartition } from '../../../protocol/fetch.js';
import { encodeRecordBatch } from '../../../protocol/testing/record-batches.js';
import type { ResponseBufferPool } from '../kafkajs/response-buffer-pool.js';

export const RESPONSE_TOPIC = 'a topic';
/** Enough for a response that has its memory on loan. */
export const RESPONSE_BYTES = 1024 * 1024;

/**
 * What a response brought of the partitions 0, 1, ..., all in one memory: for each of them one record with that text, or
 * nothing (null).
 */
export function fetchedResponse(memory: ResponseBufferPool, texts: readonly (string | null)[]): FetchedPartition[] {
  const response = memory.take(RESPONSE_BYTES);
  let at = 0;
  return texts.map((text, partition) => {
    const start = at;
    if (text !== null) at += batchOf(text).copy(response, at);
    const data = response.subarray(start, at);
    const ends = { highWatermark: 1, lastStableOffset: 1 };
    return { topic: RESPONSE_TOPIC, partition, errorCode: 0, aborted: [], data, ...ends };
  });
}

export function batchOf(text: string): Buffer {
  return encodeRecordBatch([{ key: null, value: Buffer.from(text) }], 0, {
    producerId: 1,
    producerEpoch: 0,
    baseSequence: 0,
    isTransactional: false,
  });
}
