import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { OutgoingRecord } from '../record.js';
import { sealRecordBatch } from './record-batch-encoder.js';
import { RecordCollector } from './record-collector.js';
import { decodeRecordBatches } from './testing/record-batches.js';

const NO_PRODUCER = { producerId: -1, producerEpoch: -1, baseSequence: -1 };

const field = fc.option(fc.uint8Array({ maxLength: 120 }).map((bytes) => Buffer.from(bytes)));
const record = fc.record({ topic: fc.constantFrom('a', 'b'), partition: fc.nat({ max: 2 }), key: field, value: field });

function ofPartition(records: Iterable<OutgoingRecord>, topic: string, partition: number): OutgoingRecord[] {
  return [...records].filter((one) => one.topic === topic && one.partition === partition);
}

describe('record buffers', () => {
  it('give each partition its records in order, reusing the same memory', () => {
    fc.assert(
      fc.property(fc.array(fc.array(record, { maxLength: 60 }), { maxLength: 3 }), (transactions) => {
        const buffers = new RecordCollector(500);
        for (const records of transactions) {
          for (const { topic, partition, key, value } of records) buffers.to(topic, partition).append(key, value);
          expect([...buffers]).toHaveLength(records.length);
          for (const { topic, partition } of records) {
            expect(ofPartition(buffers, topic, partition)).toEqual(ofPartition(records, topic, partition));
          }
          buffers.clear();
          expect([...buffers]).toEqual([]);
        }
      }),
    );
  });

  it('begin another batch before one gets too large, and put an oversized record into its own batch', () => {
    const buffers = new RecordCollector(1_000);
    for (const bytes of [300, 300, 5_000, 300]) buffers.to('t', 0).append(null, Buffer.alloc(bytes));
    const counts = buffers.to('t', 0).batches.map(({ count }) => count);
    expect(counts).toEqual([2, 1, 1]);
  });

  it('keep timestamps of their own, in batches apart from records without one', () => {
    const times = fc.array(fc.option(fc.integer({ min: 0, max: 8_000_000_000_000 }), { nil: undefined }), {
      minLength: 1,
    });
    fc.assert(
      fc.property(times, (timestamps) => {
        const records = timestamps.map((timestamp, n) => ({
          ...{ topic: 't', partition: 0, key: null, value: Buffer.from(String(n)) },
          ...(timestamp !== undefined && { timestamp }),
        }));
        const buffers = RecordCollector.of(records);
        expect([...buffers]).toEqual(records);
        const sealed = buffers.to('t', 0).batches.map((batch) => sealRecordBatch(batch, 7, NO_PRODUCER, Infinity));
        const read = sealed.flatMap((batch) => decodeRecordBatches(batch, 0, []).records);
        expect(read.map(({ timestamp }) => timestamp)).toEqual(timestamps.map((timestamp) => timestamp ?? 7));
      }),
    );
  });

  it('tell whether the next record has to have a timestamp, and keep few buffers for the next transaction', () => {
    const buffer = new RecordCollector().to('t', 0);
    buffer.append(null, null);
    expect(buffer.hasTimestamps).toBe(false);
    for (let n = 0; n < 100; n++) buffer.append(null, null, [], n % 2 === 0 ? 1 : undefined);
    const used = new Set(buffer.batches.map(({ bytes }) => bytes));
    buffer.clear();
    for (let n = 0; n < 100; n++) buffer.append(null, null, [], n % 2 === 0 ? 1 : undefined);
    expect(buffer.hasTimestamps).toBe(false);
    expect(buffer.batches.filter(({ bytes }) => used.has(bytes)).length).toBeLessThan(10);
  });

  it('are joined with their records in order, and stay as they were', () => {
    fc.assert(
      fc.property(fc.array(fc.array(record, { maxLength: 20 }), { maxLength: 4 }), (transactions) => {
        const collectors = transactions.map((records) => {
          const collector = new RecordCollector(500);
          for (const { topic, partition, key, value } of records) collector.to(topic, partition).append(key, value);
          return collector;
        });
        const joined = RecordCollector.joined(collectors);
        const all = transactions.flat();
        expect([...joined]).toHaveLength(all.length);
        for (const { topic, partition } of all)
          expect(ofPartition(joined, topic, partition)).toEqual(ofPartition(all, topic, partition));
        for (const [index, collector] of collectors.entries())
          expect([...collector]).toHaveLength(transactions[index]?.length ?? NaN);
      }),
    );
  });

  it('keep the timestamps and headers of records that are joined', () => {
    const headers = [{ key: 'traceparent', value: Buffer.from('00-1') }];
    const collectors = [1_000, 2_000].map((timestamp) => {
      const collector = new RecordCollector();
      collector.to('t', 0).append(null, Buffer.from(String(timestamp)), headers, timestamp);
      return collector;
    });
    const joined = RecordCollector.joined(collectors);
    expect([...joined].map((one) => ({ timestamp: one.timestamp, headers: one.headers }))).toEqual([
      { timestamp: 1_000, headers },
      { timestamp: 2_000, headers },
    ]);
    expect(joined.filled()).toHaveLength(1);
  });

  it('take parts of other buffers without what lies around them', () => {
    const bytes = Buffer.from('..key..value..');
    const buffers = new RecordCollector();
    buffers.to('t', 1).appendRanges(bytes, 2, 5, bytes, 7, 12);
    expect([...buffers]).toEqual([{ topic: 't', partition: 1, key: Buffer.from('key'), value: Buffer.from('value') }]);
  });
});
