import { gzipSync } from 'node:zlib';
import { writeInt64 } from './bytes.js';
import { crc32c } from './crc32c.js';
import { BATCH_HEADER_BYTES, type ProducerBatch } from './record-collector.js';

/** The identity of a producer at its transaction coordinator; a later InitProducerId invalidates it. */
export interface ProducerId {
  readonly producerId: number;
  readonly producerEpoch: number;
}

/** `baseSequence` counts the producer's records of the partition before this batch. */
export interface ProducerIdentity extends ProducerId {
  readonly baseSequence: number;
  /** Default true: readers see the records after the transaction commits; otherwise at once. */
  readonly isTransactional?: boolean;
}

const CRC_AT = 17;
const ATTRIBUTES_AT = 21;
const TRANSACTIONAL = 0x10;
const GZIP = 0x01;

/**
 * Turns the collected records into one record batch of format v2. `timestamp` is epoch ms, for records without one. A
 * batch larger than `compressAboveBytes` is gzipped: a record that came compressed must fit when written on, e.g. to a
 * quarantine. The result shares the memory of `records` unless it was gzipped.
 */
export function sealRecordBatch(
  records: ProducerBatch,
  timestamp: number,
  producer: ProducerIdentity,
  compressAboveBytes: number,
): Buffer {
  const plain = records.bytes.subarray(0, records.length);
  writeHeader(plain, records, timestamp, producer);
  const batch = plain.length > compressAboveBytes ? gzipped(plain) : plain;
  batch.writeUInt32BE(crc32c(batch.subarray(ATTRIBUTES_AT)), CRC_AT);
  return batch;
}

function gzipped(plain: Buffer): Buffer {
  const body = gzipSync(plain.subarray(BATCH_HEADER_BYTES));
  const batch = Buffer.concat([plain.subarray(0, BATCH_HEADER_BYTES), body]);
  batch.writeInt32BE(batch.length - 12, 8);
  batch.writeInt16BE(plain.readInt16BE(ATTRIBUTES_AT) | GZIP, ATTRIBUTES_AT);
  return batch;
}

function writeHeader(batch: Buffer, records: ProducerBatch, timestamp: number, producer: ProducerIdentity): void {
  const { count, firstTimestamp, maxTimestamp } = records;
  batch.fill(0, 0, BATCH_HEADER_BYTES);
  batch.writeInt32BE(batch.length - 12, 8);
  batch.writeInt32BE(-1, 12); // partition leader epoch: the broker's to fill
  batch.writeInt8(2, 16);
  batch.writeInt16BE(producer.isTransactional === false ? 0 : TRANSACTIONAL, ATTRIBUTES_AT);
  batch.writeInt32BE(count - 1, 23);
  writeInt64(batch, firstTimestamp ?? timestamp, 27);
  writeInt64(batch, firstTimestamp === null ? timestamp : maxTimestamp, 35);
  writeInt64(batch, producer.producerId, 43);
  batch.writeInt16BE(producer.producerEpoch, 51);
  batch.writeInt32BE(producer.baseSequence, 53);
  batch.writeInt32BE(count, 57);
}
