import { createRequire } from 'node:module';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { decodeRecordBatches } from './testing/record-batches.js';
import { encodeRecordBatch, type RecordToEncode } from './testing/record-batches.js';

/** Our codec against the one that comes with kafkajs, in both directions: they must agree on every batch. */
const require = createRequire(import.meta.url);

interface StockRecord {
  readonly offset: string;
  readonly timestamp: string;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
}

const Decoder = require('kafkajs/src/protocol/decoder') as new (buffer: Buffer) => object;
const decodeStock = require('kafkajs/src/protocol/recordBatch/v0/decoder') as (decoder: object) => Promise<{
  records: StockRecord[];
  producerId: string;
  producerEpoch: number;
  firstSequence: number;
  inTransaction: boolean;
}>;
const { RecordBatch } = require('kafkajs/src/protocol/recordBatch/v0') as {
  RecordBatch: (batch: object) => Promise<{ buffer: Buffer }>;
};
const encodeStockRecord = require('kafkajs/src/protocol/recordBatch/record/v0') as (record: object) => object;

const GZIP = 1;

const field = fc.option(fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)));
const records = fc.array(fc.record({ key: field, value: field }), { minLength: 1, maxLength: 60 });
const headers = fc.dictionary(fc.string({ maxLength: 8 }), fc.string({ maxLength: 8 }), { maxKeys: 3 });

describe('the record codec and the one of kafkajs', () => {
  it('agree on what we write', async () => {
    await fc.assert(
      fc.asyncProperty(
        records,
        fc.integer({ min: 0, max: 2_000_000 }),
        async (written: RecordToEncode[], baseSequence) => {
          const batch = encodeRecordBatch(written, 1_700_000_000_123, {
            producerId: 4_001,
            producerEpoch: 3,
            baseSequence,
          });
          const stock = await decodeStock(new Decoder(batch));
          expect(stock).toMatchObject({
            producerId: '4001',
            producerEpoch: 3,
            firstSequence: baseSequence,
            inTransaction: true,
          });
          expect(stock.records.map(({ key, value }) => ({ key, value }))).toEqual(written);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('agree on what a stock producer writes, headers and compression included', async () => {
    const parts = fc.tuple(records, headers, fc.constantFrom(0, GZIP), fc.integer({ min: 0, max: 2 ** 40 }));
    await fc.assert(
      fc.asyncProperty(parts, async ([written, recordHeaders, compression, firstOffset]) => {
        const { buffer } = await RecordBatch({
          compression,
          firstOffset,
          firstTimestamp: 5_000,
          maxTimestamp: 9_000,
          lastOffsetDelta: written.length - 1,
          records: written.map((record, offsetDelta) =>
            encodeStockRecord({ ...record, headers: recordHeaders, offsetDelta, timestampDelta: offsetDelta * 3 }),
          ),
        });
        const stock = await decodeStock(new Decoder(buffer));
        const { records: ours, nextOffset } = decodeRecordBatches(buffer, firstOffset, []);
        expect(nextOffset).toBe(firstOffset + written.length);
        expect(ours.map(({ offset, timestamp, key, value }) => ({ offset, timestamp, key, value }))).toEqual(
          stock.records.map(({ offset, timestamp, key, value }) => ({
            offset: Number(offset),
            timestamp: Number(timestamp),
            key,
            value,
          })),
        );
      }),
      { numRuns: 60 },
    );
  });
});
