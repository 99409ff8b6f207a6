import { type OutgoingRecord, partitionName } from '../record.js';
import { ByteReader, varintSize, varlongSize, writeVarint, writeVarlong } from './bytes.js';
import { readRecord } from './record-batch-decoder.js';
import { headersSize, type RecordHeader, writeHeaders } from './record-headers.js';

/** The records of a transaction, by partition. Iteration yields single records, in order within each partition. */
export class RecordCollector implements Iterable<OutgoingRecord> {
  private readonly byTopic = new Map<string, Map<number, RecordBuffer>>();

  constructor(private readonly maxBatchBytes = MAX_BATCH_BYTES) {}

  /** @returns `records` itself if it is a collector */
  static of(records: Iterable<OutgoingRecord>): RecordCollector {
    if (records instanceof RecordCollector) return records;
    const buffers = new RecordCollector();
    for (const { topic, partition, key, value, headers, timestamp } of records)
      buffers.to(topic, partition).append(key, value, headers, timestamp);
    return buffers;
  }

  /** The records of several collectors, which must not change while it is used: copies only what shares a partition. */
  static joined(collectors: readonly RecordCollector[]): RecordCollector {
    const joined = new RecordCollector();
    const byPartition = new Map<string, RecordBuffer[]>();
    for (const buffer of collectors.flatMap((collector) => collector.filled())) {
      const name = partitionName(buffer);
      byPartition.set(name, [...(byPartition.get(name) ?? []), buffer]);
    }
    for (const buffers of byPartition.values()) {
      if (buffers.length === 1) for (const buffer of buffers) joined.of(buffer.topic).set(buffer.partition, buffer);
      else for (const buffer of buffers) joined.copy(buffer);
    }
    return joined;
  }

  to(topic: string, partition: number): RecordBuffer {
    const known = this.of(topic);
    let buffer = known.get(partition);
    if (!buffer) known.set(partition, (buffer = new RecordBuffer(topic, partition, this.maxBatchBytes)));
    return buffer;
  }

  private of(topic: string): Map<number, RecordBuffer> {
    let known = this.byTopic.get(topic);
    if (!known) this.byTopic.set(topic, (known = new Map<number, RecordBuffer>()));
    return known;
  }

  private copy(from: RecordBuffer): void {
    const into = this.to(from.topic, from.partition);
    for (const { key, value, headers, timestamp } of from.records()) into.append(key, value, headers, timestamp);
  }

  get bytes(): number {
    return this.filled().reduce((sum, { bytes }) => sum + bytes, 0);
  }

  filled(): RecordBuffer[] {
    return this.buffers().filter(({ count }) => count > 0);
  }

  clear(): void {
    for (const buffer of this.buffers()) buffer.clear();
  }

  private buffers(): RecordBuffer[] {
    return [...this.byTopic.values()].flatMap((buffers) => [...buffers.values()]);
  }

  *[Symbol.iterator](): Generator<OutgoingRecord> {
    for (const buffer of this.filled()) yield* buffer.records();
  }
}

/** The size of one batch; below the `max.message.bytes` of any topic with default settings. */
export const MAX_BATCH_BYTES = 900_000;
export const BATCH_HEADER_BYTES = 61;

const FIRST_BYTES = 16_384;
/** How many buffers of a partition are kept: a usual transaction has a few batches. */
const MAX_SPARE = 8;
const NO_HEADERS: readonly RecordHeader[] = [];
/** Up to this length a loop is faster than a call into the runtime. */
const COPIED_BY_HAND_BYTES = 48;

/** Records of one batch in Kafka's format, after the space for the header. */
export interface ProducerBatch {
  bytes: Buffer;
  length: number;
  count: number;
  /** Epoch ms; null: no record has its own timestamp. */
  firstTimestamp: number | null;
  maxTimestamp: number;
}

/**
 * The records of a transaction for one partition, kept as wire-format bytes: at hundreds of thousands of records per
 * second, an object per record with Buffers for key and value costs more than the rules do.
 */
export class RecordBuffer {
  count = 0;
  readonly batches: ProducerBatch[] = [];
  private readonly spare: Buffer[] = [];

  constructor(
    readonly topic: string,
    readonly partition: number,
    private readonly maxBatchBytes = MAX_BATCH_BYTES,
  ) {}

  append(key: Buffer | null, value: Buffer | null, headers?: readonly RecordHeader[], timestamp?: number): void {
    this.appendRanges(key, 0, key?.length ?? 0, value, 0, value?.length ?? 0, headers, timestamp);
  }

  /** Takes numbers, not ranges: two objects for each of hundreds of thousands of records a second would show. */
  appendRanges(
    key: Uint8Array | null,
    keyStart: number,
    keyEnd: number,
    value: Uint8Array | null,
    valueStart: number,
    valueEnd: number,
    headers = NO_HEADERS,
    timestamp: number | null = null,
  ): void {
    const keyLength = keyEnd - keyStart;
    const valueLength = valueEnd - valueStart;
    const headerBytes = headers.length === 0 ? 1 : headersSize(headers);
    const batch = this.batchFor(keyLength + valueLength + headerBytes, timestamp);
    const timestampDelta = timestamp === null ? 0 : timestamp - (batch.firstTimestamp ?? 0);
    const content =
      1 +
      varlongSize(timestampDelta) +
      varintSize(batch.count) +
      (key ? varintSize(keyLength) + keyLength : 1) +
      (value ? varintSize(valueLength) + valueLength : 1) +
      headerBytes;
    const { bytes } = batch;
    let at = writeVarint(bytes, batch.length, content);
    bytes[at++] = 0; // attributes
    at = writeVarlong(bytes, at, timestampDelta);
    at = writeVarint(bytes, at, batch.count);
    at = writeField(bytes, at, key, keyStart, keyLength);
    at = writeField(bytes, at, value, valueStart, valueLength);
    at = writeHeaders(bytes, at, headers);
    batch.length = at;
    batch.count++;
    this.count++;
  }

  get bytes(): number {
    return this.batches.reduce((sum, { length }) => sum + length, 0);
  }

  get hasTimestamps(): boolean {
    return (this.batches.at(-1)?.firstTimestamp ?? null) !== null;
  }

  /** Keeps the memory for the next transaction. */
  clear(): void {
    this.count = 0;
    for (const { bytes } of this.batches.splice(0))
      if (bytes.length <= 2 * this.maxBatchBytes && this.spare.length < MAX_SPARE) this.spare.push(bytes);
  }

  /** Copies, since the memory of the batches is used again. */
  *records(): Generator<OutgoingRecord> {
    const { topic, partition } = this;
    for (const { bytes, length, count, firstTimestamp } of this.batches) {
      const reader = new ByteReader(Buffer.from(bytes.subarray(0, length)));
      reader.position = BATCH_HEADER_BYTES;
      const batch = { baseOffset: 0, attributes: 0, firstTimestamp: firstTimestamp ?? 0, maxTimestamp: 0 };
      for (let index = 0; index < count; index++) {
        const { key, value, headers, timestamp } = readRecord(reader, batch, index);
        const record = { topic, partition, key, value, ...(headers.length > 0 && { headers }) };
        yield firstTimestamp === null ? record : { ...record, timestamp };
      }
    }
  }

  /** Records with and without their own timestamp go into different batches. */
  private batchFor(dataBytes: number, timestamp: number | null): ProducerBatch {
    const bound = dataBytes + 32;
    let batch = this.batches.at(-1);
    const isFull = batch && batch.count > 0 && batch.length + bound > this.maxBatchBytes;
    if (!batch || isFull || (batch.firstTimestamp === null) !== (timestamp === null)) {
      const bytes = this.spare.pop() ?? Buffer.allocUnsafeSlow(FIRST_BYTES);
      batch = { bytes, length: BATCH_HEADER_BYTES, count: 0, firstTimestamp: timestamp, maxTimestamp: 0 };
      this.batches.push(batch);
    }
    if (timestamp !== null) batch.maxTimestamp = Math.max(batch.maxTimestamp, timestamp);
    if (batch.length + bound > batch.bytes.length) grow(batch, batch.length + bound);
    return batch;
  }
}

function grow(batch: ProducerBatch, bytesNeeded: number): void {
  const grown = Buffer.allocUnsafeSlow(Math.max(bytesNeeded, 2 * batch.bytes.length));
  batch.bytes.copy(grown, 0, 0, batch.length);
  batch.bytes = grown;
}

function writeField(into: Buffer, at: number, field: Uint8Array | null, start: number, length: number): number {
  if (field === null) return writeVarint(into, at, -1);
  // TypeScript takes the strings of parsed JSON, which is `any`, and they would be written as zeros.
  if (!(field instanceof Uint8Array)) throw new TypeError('The key and value of a record are Buffers or null.');
  const to = writeVarint(into, at, length);
  if (length <= COPIED_BY_HAND_BYTES) {
    for (let i = 0; i < length; i++) into[to + i] = field[start + i] as number;
  } else {
    into.set(field.subarray(start, start + length), to);
  }
  return to + length;
}
