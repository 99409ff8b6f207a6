import type { TopicPartition } from '../record.js';
import { brokerError, ByteReader, byTopic } from './bytes.js';
import type { AbortedTransaction } from './record-batch-decoder.js';

const FETCH_API_KEY = 1;
const READ_COMMITTED = 1;

interface FetchPosition extends TopicPartition {
  readonly offset: number;
}

export interface FetchLimits {
  readonly maxWaitMs: number;
  readonly maxBytes: number;
  readonly maxBytesPerPartition: number;
}

/** The first batch of a response comes whole, however large it is. */
export type FetchSizes = Pick<FetchLimits, 'maxBytes' | 'maxBytesPerPartition'>;

export interface FetchedPartition extends TopicPartition {
  readonly errorCode: number;
  readonly highWatermark: number;
  readonly lastStableOffset: number;
  readonly aborted: readonly AbortedTransaction[];
  readonly data: Buffer;
}

/** Fetch v11 without a session, read_committed. The records stay undecoded. */
export function fetchRequest(positions: readonly FetchPosition[], limits: FetchLimits) {
  return {
    apiKey: FETCH_API_KEY,
    apiVersion: 11,
    apiName: 'Fetch',
    payload: encodeFetch(positions, limits),
    decode: decodeFetch,
  };
}

function encodeFetch(positions: readonly FetchPosition[], limits: FetchLimits): Buffer {
  const topics = byTopic(positions);
  const head = Buffer.alloc(29);
  head.writeInt32BE(-1, 0); // an ordinary consumer, no replica
  head.writeInt32BE(limits.maxWaitMs, 4);
  head.writeInt32BE(1, 8); // the answer comes with the first record
  head.writeInt32BE(limits.maxBytes, 12);
  head.writeInt8(READ_COMMITTED, 16);
  head.writeInt32BE(0, 17);
  head.writeInt32BE(-1, 21);
  head.writeInt32BE(topics.size, 25);
  const parts: Buffer[] = [head];
  for (const [topic, list] of topics) parts.push(encodeTopic(topic, list, limits.maxBytesPerPartition));
  parts.push(Buffer.from([0, 0, 0, 0, 0, 0])); // no forgotten topics, empty rack
  return Buffer.concat(parts);
}

function encodeTopic(topic: string, positions: readonly FetchPosition[], maxBytes: number): Buffer {
  const name = Buffer.from(topic);
  const buffer = Buffer.alloc(2 + name.length + 4 + positions.length * 28);
  let at = buffer.writeInt16BE(name.length, 0);
  at += name.copy(buffer, at);
  at = buffer.writeInt32BE(positions.length, at);
  for (const { partition, offset } of positions) {
    at = buffer.writeInt32BE(partition, at);
    at = buffer.writeInt32BE(-1, at); // leader epoch unknown
    at = buffer.writeBigInt64BE(BigInt(offset), at);
    at = buffer.writeBigInt64BE(-1n, at);
    at = buffer.writeInt32BE(maxBytes, at);
  }
  return buffer;
}

/** @throws Error with the `code` of a refusal that names no partition */
function decodeFetch(payload: Buffer): { partitions: FetchedPartition[] } {
  const reader = new ByteReader(payload);
  reader.int32(); // throttle time
  const errorCode = reader.int16();
  if (errorCode !== 0) throw brokerError(errorCode);
  reader.int32(); // session
  const partitions = reader.partitions((topic) => {
    const partition = reader.int32();
    const errorCode = reader.int16();
    const highWatermark = reader.int64();
    const lastStableOffset = reader.int64();
    reader.int64(); // log start
    const aborted = reader.array(() => ({ producerId: reader.int64(), firstOffset: reader.int64() }));
    reader.int32(); // preferred read replica
    const data = reader.bytes() ?? Buffer.alloc(0);
    return { topic, partition, errorCode, highWatermark, lastStableOffset, aborted, data };
  });
  return { partitions };
}
