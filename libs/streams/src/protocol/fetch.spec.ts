import { createRequire } from 'node:module';
import { beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { CompressionCodecs, CompressionTypes } from 'kafkajs';
import { compressFrameSync, decompressFrameSync } from 'lz4-napi';
import { compressSync, uncompressSync } from 'snappy';
import { fetchRequest } from './fetch.js';
import { decodeRecordBatches } from './record-batch-decoder.js';
import { anyLog, fetchResponse, type LogStep, writeLog, type WrittenLog } from './testing/generated-log.js';

/** Whole fetch responses, made from histories of several writers, against kafkajs and against what the history says. */
const require = createRequire(import.meta.url);
const stockResponse = require('kafkajs/src/protocol/requests/fetch/v11/response') as {
  decode(bytes: Buffer): Promise<{ responses: { topicName: string; partitions: StockPartition[] }[] }>;
};
const StockBatch = require('kafkajs/src/consumer/batch') as new (
  topic: string,
  position: number,
  partition: StockPartition,
) => { messages: StockMessage[] };

interface StockPartition {
  readonly partition: number;
  readonly highWatermark: string;
}

interface StockMessage {
  readonly offset: string;
  readonly timestamp: string;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
}

interface PlainRecord {
  readonly offset: number;
  readonly timestamp: number;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
}

function plain({ offset, timestamp, key, value }: StockMessage | PlainRecord): PlainRecord {
  return {
    offset: Number(offset),
    timestamp: Number(timestamp),
    key,
    value,
  };
}

function decodeOurs(response: Buffer, position: number): { records: PlainRecord[]; nextOffset: number } {
  const { decode } = fetchRequest([], { maxWaitMs: 0, minBytes: 0, maxBytes: 0, maxBytesPerPartition: 0 });
  const [partition] = decode(response).partitions;
  if (!partition) throw new Error('The response names no partition.');
  const { records, nextOffset } = decodeRecordBatches(partition.data, position, partition.aborted);
  return { records: records.map(plain), nextOffset };
}

async function decodeStock(response: Buffer, position: number): Promise<PlainRecord[]> {
  const { responses } = await stockResponse.decode(response);
  const [partition] = responses[0]?.partitions ?? [];
  if (!partition) throw new Error('The response names no partition.');
  return new StockBatch('t', position, partition).messages.map(plain);
}

/** kafkajs takes one aborted transaction from the list at each record: right only while none overlaps another. */
function writersOf(steps: readonly LogStep[]): number {
  return new Set(steps.flatMap((step) => (step.writer > 0 ? [step.writer] : []))).size;
}

const fetched = fc.record({ steps: anyLog, position: fc.nat(), cutBytes: fc.constantFrom(0, 0, 1, 30, 400) });

function fetchFrom(log: WrittenLog, position: number, cutBytes: number): { from: number; response: Buffer } {
  const from = position % (log.endOffset + 1);
  return { from, response: fetchResponse(log, from, cutBytes) };
}

beforeAll(() => {
  CompressionCodecs[CompressionTypes.Snappy] = () => ({
    compress: ({ buffer }: { buffer: Buffer }) => Promise.resolve(compressSync(buffer)),
    decompress: (buffer: Buffer) => Promise.resolve(uncompressSync(buffer)),
  });
  CompressionCodecs[CompressionTypes.LZ4] = () => ({
    compress: ({ buffer }: { buffer: Buffer }) => Promise.resolve(compressFrameSync(buffer)),
    decompress: (buffer: Buffer) => Promise.resolve(decompressFrameSync(buffer)),
  });
});

describe('a fetch response', () => {
  it('returns committed records despite concurrent writers, and moves past the last complete batch', async () => {
    await fc.assert(
      fc.asyncProperty(fetched, async ({ steps, position, cutBytes }) => {
        const log = await writeLog(steps);
        const { from, response } = fetchFrom(log, position, cutBytes);
        expect(decodeOurs(response, from)).toEqual(log.committedFrom(from, cutBytes));
      }),
      { numRuns: 150 },
    );
  });

  it('gives what kafkajs gives, as long as one writer at most uses transactions', async () => {
    let compared = 0;
    await fc.assert(
      fc.asyncProperty(fetched, async ({ steps, position, cutBytes }) => {
        fc.pre(writersOf(steps) <= 1);
        const log = await writeLog(steps);
        const { from, response } = fetchFrom(log, position, cutBytes);
        const stock = await decodeStock(response, from);
        compared += stock.length;
        expect(decodeOurs(response, from).records).toEqual(stock);
      }),
      { numRuns: 200 },
    );
    expect(compared).toBeGreaterThan(300);
  });

  it('is not read as kafkajs reads it when aborted transactions overlap: that shows aborted records', async () => {
    const steps: LogStep[] = [
      { type: 'records', writer: 1, values: ['a'], step: 1, compression: 0, headers: {} },
      { type: 'records', writer: 2, values: ['b'], step: 1, compression: 0, headers: {} },
      { type: 'end', writer: 2, outcome: 'abort' },
      { type: 'records', writer: 1, values: ['c'], step: 1, compression: 0, headers: {} },
      { type: 'end', writer: 1, outcome: 'abort' },
    ];
    const log = await writeLog(steps);
    const response = fetchResponse(log, 0, 0);
    expect((await decodeStock(response, 0)).map(({ value }) => value?.toString())).toEqual(['a']);
    expect(decodeOurs(response, 0)).toEqual({ records: [], nextOffset: 5 });
  });
});
