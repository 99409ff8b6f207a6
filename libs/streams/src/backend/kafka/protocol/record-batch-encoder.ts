import { gzipSync } from 'node:zlib';
import { crc32c } from '@node-rs/crc32';
import { varintSize, writeInt64, writeVarint } from './bytes.js';

export interface RecordToEncode {
  readonly key: Buffer | null;
  readonly value: Buffer | null;
}

/** Who writes; `baseSequence` numbers the first record of the batch within this producer's life on the partition. */
export interface ProducerIdentity {
  readonly producerId: number;
  readonly producerEpoch: number;
  readonly baseSequence: number;
}

const HEADER_BYTES = 61;
const CRC_AT = 17;
const ATTRIBUTES_AT = 21;
const TRANSACTIONAL = 0x10;
const GZIP = 0x01;

const fieldSize = (field: Buffer | null): number => (field === null ? 1 : varintSize(field.length) + field.length);

/** Bytes of a record's content: attributes, timestamp delta 0, offset delta, key, value, no headers. */
const contentSize = (record: RecordToEncode, offsetDelta: number): number =>
  2 + varintSize(offsetDelta) + fieldSize(record.key) + fieldSize(record.value) + 1;

/** An upper bound of the bytes that one record adds to a batch. */
export const recordSizeBound = (record: RecordToEncode): number =>
  (record.key?.length ?? 0) + (record.value?.length ?? 0) + 24;

/**
 * One transactional record batch of format v2. `timestamp` is epoch ms, the same for all its records. A batch larger
 * than `compressAboveBytes` is gzipped: what a producer sent compressed must fit when it is written on, e.g. quarantined.
 */
export const encodeRecordBatch = (
  records: readonly RecordToEncode[],
  timestamp: number,
  producer: ProducerIdentity,
  compressAboveBytes = Infinity,
): Buffer => {
  let size = HEADER_BYTES;
  for (let i = 0; i < records.length; i++) {
    const content = contentSize(records[i] as RecordToEncode, i);
    size += varintSize(content) + content;
  }
  const plain = Buffer.allocUnsafe(size);
  writeHeader(plain, records.length, timestamp, producer);
  let at = HEADER_BYTES;
  for (let i = 0; i < records.length; i++) at = writeRecord(plain, at, records[i] as RecordToEncode, i);
  const batch = size > compressAboveBytes ? gzipped(plain) : plain;
  batch.writeUInt32BE(crc32c(batch.subarray(ATTRIBUTES_AT)), CRC_AT);
  return batch;
};

const gzipped = (plain: Buffer): Buffer => {
  const batch = Buffer.concat([plain.subarray(0, HEADER_BYTES), gzipSync(plain.subarray(HEADER_BYTES))]);
  batch.writeInt32BE(batch.length - 12, 8);
  batch.writeInt16BE(TRANSACTIONAL | GZIP, ATTRIBUTES_AT);
  return batch;
};

const writeHeader = (batch: Buffer, count: number, timestamp: number, producer: ProducerIdentity): void => {
  batch.fill(0, 0, HEADER_BYTES);
  batch.writeInt32BE(batch.length - 12, 8);
  batch.writeInt32BE(-1, 12); // partition leader epoch: the broker's to fill
  batch.writeInt8(2, 16);
  batch.writeInt16BE(TRANSACTIONAL, ATTRIBUTES_AT);
  batch.writeInt32BE(count - 1, 23);
  writeInt64(batch, timestamp, 27);
  writeInt64(batch, timestamp, 35);
  writeInt64(batch, producer.producerId, 43);
  batch.writeInt16BE(producer.producerEpoch, 51);
  batch.writeInt32BE(producer.baseSequence, 53);
  batch.writeInt32BE(count, 57);
};

const writeRecord = (batch: Buffer, start: number, record: RecordToEncode, offsetDelta: number): number => {
  let at = writeVarint(batch, start, contentSize(record, offsetDelta));
  batch[at++] = 0;
  batch[at++] = 0;
  at = writeVarint(batch, at, offsetDelta);
  at = writeField(batch, at, record.key);
  at = writeField(batch, at, record.value);
  batch[at++] = 0;
  return at;
};

const writeField = (batch: Buffer, start: number, field: Buffer | null): number => {
  if (field === null) return writeVarint(batch, start, -1);
  const at = writeVarint(batch, start, field.length);
  field.copy(batch, at);
  return at + field.length;
};
