import { gzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { crc32c } from '@node-rs/crc32';
import fc from 'fast-check';
import { scanRecordBatches } from './record-batch-decoder.js';
import { decodeRecordBatches } from './testing/record-batches.js';
import { encodeRecordBatch, type RecordToEncode } from './testing/record-batches.js';

const COMPRESSION_AT = 22;

interface BatchPlace {
  readonly baseOffset: number;
  readonly producerId: number;
}

function batchOf(values: readonly string[], { baseOffset, producerId }: BatchPlace): Buffer {
  const records = values.map((value) => ({ key: Buffer.from('k'), value: Buffer.from(value) }));
  const batch = encodeRecordBatch(records, 1_000, { producerId, producerEpoch: 0, baseSequence: 0 });
  batch.writeBigInt64BE(BigInt(baseOffset), 0);
  return batch;
}

/** What the broker appends at the end of a transaction: key int16 version, int16 type (0 abort, 1 commit). */
function marker(type: 'abort' | 'commit', place: BatchPlace): Buffer {
  const key = Buffer.from([0, 0, 0, type === 'abort' ? 0 : 1]);
  const batch = encodeRecordBatch([{ key, value: Buffer.alloc(6) }], 1_000, {
    ...place,
    producerEpoch: 0,
    baseSequence: -1,
  });
  batch.writeBigInt64BE(BigInt(place.baseOffset), 0);
  batch.writeInt16BE(batch.readInt16BE(21) | 0x20, 21);
  return sealed(batch);
}

/** With the checksum of what it holds now. */
function sealed(batch: Buffer): Buffer {
  batch.writeUInt32BE(crc32c(batch.subarray(21)), 17);
  return batch;
}

function compressed(batch: Buffer, codec: number, body: Buffer): Buffer {
  const out = Buffer.concat([batch.subarray(0, 61), body]);
  out.writeInt32BE(out.length - 12, 8);
  out[COMPRESSION_AT] = (out[COMPRESSION_AT] ?? 0) | codec;
  return sealed(out);
}

function valuesOf(
  data: Buffer,
  position = 0,
  aborted: { producerId: number; firstOffset: number }[] = [],
): (string | undefined)[] {
  return decodeRecordBatches(data, position, aborted).records.map(({ value }) => value?.toString());
}

interface Transaction {
  readonly producerId: number;
  readonly firstOffset: number;
  end: number;
  isAborted: boolean;
}

interface WrittenBatch {
  readonly bytes: Buffer;
  readonly offsets: readonly number[];
  /** null: a marker. */
  readonly transaction: Transaction | null;
}

/** A partition as its writers leave it, and as a broker answers from it. */
class WrittenLog {
  nextOffset = 0;
  /** In the order of their ends, as a broker lists them. */
  readonly aborted: Transaction[] = [];
  private readonly batches: WrittenBatch[] = [];
  private readonly open = new Map<number, Transaction>();

  append(producerId: number, count: number): void {
    const baseOffset = this.nextOffset;
    const transaction = this.open.get(producerId) ?? { producerId, firstOffset: baseOffset, end: -1, isAborted: false };
    this.open.set(producerId, transaction);
    const values = Array.from({ length: count }, () => 'value');
    this.add(batchOf(values, { baseOffset, producerId }), count, transaction);
  }

  end(producerId: number, outcome: 'commit' | 'abort'): void {
    const transaction = this.open.get(producerId);
    if (!transaction) return;
    this.open.delete(producerId);
    Object.assign(transaction, { end: this.nextOffset, isAborted: outcome === 'abort' });
    if (transaction.isAborted) this.aborted.push(transaction);
    this.add(marker(outcome, { baseOffset: this.nextOffset, producerId }), 1, null);
  }

  /** From the batch that holds the position on; the limit of the response cuts any batch but the first. */
  fetch(position: number, cutBytes: number): { data: Buffer; whole: readonly WrittenBatch[] } {
    const whole = this.batches.filter(({ offsets }) => (offsets.at(-1) ?? 0) >= position);
    const bytes = Buffer.concat(whole.map((batch) => batch.bytes));
    const cut = Math.min(cutBytes, bytes.length - (whole[0]?.bytes.length ?? 0));
    for (let left = cut; left > 0;) left -= whole.pop()?.bytes.length ?? left;
    return { data: bytes.subarray(0, bytes.length - cut), whole };
  }

  private add(bytes: Buffer, count: number, transaction: Transaction | null): void {
    this.batches.push({ bytes, offsets: Array.from({ length: count }, (_, n) => this.nextOffset + n), transaction });
    this.nextOffset += count;
  }
}

const histories = fc.array(
  fc.record({
    type: fc.constantFrom('records' as const, 'records' as const, 'commit' as const, 'abort' as const),
    writer: fc.integer({ min: 1, max: 3 }),
    count: fc.integer({ min: 1, max: 4 }),
  }),
  { minLength: 1, maxLength: 24 },
);

const field = fc.option(fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)));
const headers = fc.array(fc.record({ key: fc.string({ unit: 'grapheme' }), value: field }), { maxLength: 3 });

describe('record batches', () => {
  it('come back as they were written, whatever keys, values and headers hold', () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ key: field, value: field, headers }), { minLength: 1, maxLength: 200 }),
        (records: RecordToEncode[]) => {
          const batch = encodeRecordBatch(records, 1_700_000_000_123, {
            producerId: 9,
            producerEpoch: 3,
            baseSequence: 7,
          });
          const decoded = decodeRecordBatches(batch, 0, []);
          expect(decoded.nextOffset).toBe(records.length);
          expect(
            decoded.records.map(({ offset, timestamp, key, value, headers }) => ({
              offset,
              timestamp,
              key,
              value,
              headers,
            })),
          ).toEqual(records.map((record, offset) => ({ ...record, offset, timestamp: 1_700_000_000_123 })));
        },
      ),
    );
  });

  it('leave out records before the position and a batch cut off at the end', () => {
    const data = Buffer.concat([
      batchOf(['a', 'b'], { baseOffset: 10, producerId: 1 }),
      batchOf(['c'], { baseOffset: 12, producerId: 1 }),
    ]);
    expect(valuesOf(data, 11)).toEqual(['b', 'c']);
    const cut = decodeRecordBatches(data.subarray(0, data.length - 1), 11, []);
    expect([cut.records.length, cut.nextOffset]).toEqual([1, 12]);
  });

  it('move the position over control records, without delivering them', () => {
    const place = { baseOffset: 5, producerId: 1 };
    const data = Buffer.concat([batchOf(['a'], place), marker('commit', { ...place, baseOffset: 6 })]);
    const decoded = decodeRecordBatches(data, 5, []);
    expect([decoded.records.length, decoded.nextOffset]).toEqual([1, 7]);
  });

  it('move the position over a marker whose record compaction has removed', () => {
    const emptied = marker('abort', { baseOffset: 6, producerId: 1 }).subarray(0, 61);
    emptied.writeInt32BE(emptied.length - 12, 8);
    emptied.writeInt32BE(0, 57);
    expect(decodeRecordBatches(sealed(emptied), 5, [])).toEqual({ records: [], nextOffset: 7 });
  });

  it('hide an aborted transaction that began before the fetched position', () => {
    const data = Buffer.concat([
      batchOf(['aborted'], { baseOffset: 200, producerId: 1 }),
      marker('abort', { baseOffset: 201, producerId: 1 }),
      batchOf(['kept'], { baseOffset: 202, producerId: 1 }),
    ]);
    expect(valuesOf(data, 200, [{ producerId: 1, firstOffset: 100 }])).toEqual(['kept']);
  });

  it('show what was committed in any history of overlapping writers, from any position, cut off anywhere', () => {
    fc.assert(
      fc.property(histories, fc.nat(), fc.constantFrom(0, 0, 1, 30, 400), (steps, from, cutBytes) => {
        const log = new WrittenLog();
        for (const { type, writer, count } of steps) {
          if (type === 'records') log.append(writer, count);
          else log.end(writer, type);
        }
        for (const writer of [1, 2, 3]) log.end(writer, 'commit');
        const position = from % (log.nextOffset + 1);
        const { data, whole } = log.fetch(position, cutBytes);
        const aborted = log.aborted.filter(({ end }) => end >= position);
        const decoded = decodeRecordBatches(data, position, aborted);
        const visible = whole
          .filter(({ transaction }) => transaction?.isAborted === false)
          .flatMap((one) => one.offsets);
        expect(decoded.records.map(({ offset }) => offset)).toEqual(visible.filter((offset) => offset >= position));
        expect(decoded.nextOffset).toBe((whole.at(-1)?.offsets.at(-1) ?? position - 1) + 1);
      }),
      { numRuns: 200 },
    );
  });

  it('are read when their producer compressed them', () => {
    const plain = batchOf(['hello', 'hello again'], { baseOffset: 0, producerId: 1 });
    expect(valuesOf(compressed(plain, 1, gzipSync(plain.subarray(61))))).toEqual(['hello', 'hello again']);
  });

  it('are refused when a bit has changed since they were written', () => {
    const batch = batchOf(['hello', 'hello again'], { baseOffset: 0, producerId: 1 });
    fc.assert(
      fc.property(fc.integer({ min: 17, max: batch.length - 1 }), fc.nat({ max: 7 }), (at, bit) => {
        const damaged = Buffer.from(batch);
        damaged[at] = (damaged[at] ?? 0) ^ (1 << bit);
        expect(() => decodeRecordBatches(damaged, 0, [])).toThrow('checksum');
      }),
    );
  });

  it('are read up to one that is damaged, which then fails with its offsets', () => {
    const [first, last] = [10, 14].map((baseOffset) => batchOf(['a', 'b'], { baseOffset, producerId: 1 }));
    const damaged = batchOf(['c', 'd'], { baseOffset: 12, producerId: 1 });
    damaged.writeUInt8(7, damaged.length - 1);
    const data = Buffer.concat([first as Buffer, damaged, last as Buffer]);
    expect([valuesOf(data, 10), decodeRecordBatches(data, 10, []).nextOffset]).toEqual([['a', 'b'], 12]);
    const undecoded = { partition: '', offset: 13, nextOffset: 14, timestamp: 0 };
    expect(() => valuesOf(data.subarray(first?.length), 13)).toThrow(expect.objectContaining({ undecoded }));
  });

  it('never fail with more offsets than there are before the next batch, when the header is damaged', () => {
    const [damaged, next] = [10, 12].map((baseOffset) => batchOf(['a', 'b'], { baseOffset, producerId: 1 }));
    damaged?.writeInt32BE(1_000, 23);
    const undecoded = expect.objectContaining({ offset: 10, nextOffset: 12 });
    expect(() => valuesOf(Buffer.concat([damaged as Buffer, next as Buffer]), 10)).toThrow(
      expect.objectContaining({ undecoded }),
    );
  });

  it('bring the records before one that cannot be unpacked, which then fails with its offsets', () => {
    const good = batchOf(['a', 'b'], { baseOffset: 10, producerId: 1 });
    const bad = compressed(batchOf(['c', 'd'], { baseOffset: 12, producerId: 1 }), 1, Buffer.from('no gzip'));
    const slices = scanRecordBatches(Buffer.concat([good, bad]), 10, []).slices(1_000);
    expect(slices.next().value).toHaveLength(2);
    const undecoded = { partition: '', offset: 12, nextOffset: 14, timestamp: 1_000 };
    expect(() => slices.next()).toThrow(expect.objectContaining({ undecoded }));
  });

  it('are unpacked only while the slice before is small, however tiny they are when packed', () => {
    const value = Buffer.alloc(9 * 1024 * 1024);
    const batches = [0, 1, 2, 3, 4].map((baseOffset) => {
      const batch = encodeRecordBatch(
        [{ key: null, value }],
        1,
        { producerId: 1, producerEpoch: 0, baseSequence: 0 },
        1,
      );
      batch.writeBigInt64BE(BigInt(baseOffset), 0);
      return batch;
    });
    const { slices } = scanRecordBatches(Buffer.concat(batches), 0, []);
    const offsets = [...slices(1_000)].map((slice) => slice.map(({ offset }) => offset));
    expect(offsets).toEqual([[0, 1], [2, 3], [4]]);
  });

  it('are gzipped when they are larger than the limit, and come back all the same', () => {
    const records = [{ key: null, value: Buffer.alloc(50_000, 65) }];
    const batch = encodeRecordBatch(records, 1, { producerId: 1, producerEpoch: 0, baseSequence: 0 }, 10_000);
    expect(batch.length).toBeLessThan(1_000);
    expect(decodeRecordBatches(batch, 0, []).records[0]?.value).toEqual(Buffer.alloc(50_000, 65));
  });

  it("carry the broker's time when the topic is stamped at the append", () => {
    const batch = batchOf(['a'], { baseOffset: 0, producerId: 1 });
    batch.writeInt16BE(batch.readInt16BE(21) | 0x08, 21);
    batch.writeBigInt64BE(5_000n, 35);
    expect(decodeRecordBatches(sealed(batch), 0, []).records[0]?.timestamp).toBe(5_000);
  });
});
