import type { OutgoingRecord } from '../record.js';
import { MAX_BATCH_BYTES, RecordBuffer } from './record-buffer.js';

/** What a transaction writes, by partition. Reads as a list of records; the order holds within each partition. */
export class RecordCollector implements Iterable<OutgoingRecord> {
  private readonly byTopic = new Map<string, RecordBuffer[]>();

  constructor(private readonly maxBatchBytes = MAX_BATCH_BYTES) {}

  static of(records: Iterable<OutgoingRecord>, maxBatchBytes = MAX_BATCH_BYTES): RecordCollector {
    const buffers = new RecordCollector(maxBatchBytes);
    for (const { topic, partition, key, value } of records) buffers.to(topic, partition).append(key, value);
    return buffers;
  }

  /** Where records for this partition go; the same one until the end. */
  to(topic: string, partition: number): RecordBuffer {
    const known = this.byTopic.get(topic) ?? [];
    const found = known.find((buffer) => buffer.partition === partition);
    if (found) return found;
    const buffer = new RecordBuffer(topic, partition, this.maxBatchBytes);
    this.byTopic.set(topic, [...known, buffer]);
    return buffer;
  }

  /** Those that hold records. */
  filled(): RecordBuffer[] {
    return [...this.byTopic.values()].flat().filter(({ count }) => count > 0);
  }

  get length(): number {
    let length = 0;
    for (const buffers of this.byTopic.values()) for (const { count } of buffers) length += count;
    return length;
  }

  clear(): void {
    for (const buffers of this.byTopic.values()) for (const buffer of buffers) buffer.clear();
  }

  *[Symbol.iterator](): Generator<OutgoingRecord> {
    for (const buffer of this.filled()) yield* buffer.records();
  }
}
