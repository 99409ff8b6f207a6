import { createRequire } from 'node:module';
import { crc32c } from '@node-rs/crc32';
import fc from 'fast-check';

/** Histories of one partition, written by kafkajs's encoder, and what a reader must see of them. */
const require = createRequire(import.meta.url);
const { RecordBatch } = require('kafkajs/src/protocol/recordBatch/v0') as {
  RecordBatch: (batch: object) => Promise<{ buffer: Buffer }>;
};
const encodeStockRecord = require('kafkajs/src/protocol/recordBatch/record/v0') as (record: object) => object;

/** Writer 0 uses no transactions. */
export type LogStep =
  | {
      readonly type: 'records';
      readonly writer: number;
      readonly values: readonly (string | null)[];
      /** Distance of two offsets: more than 1 where compaction has removed what lay between. */
      readonly step: number;
      /** 0 none, 1 gzip, 2 snappy, 3 lz4. */
      readonly compression: number;
      readonly headers: Readonly<Record<string, string>>;
    }
  /** Of the writer's open transaction; nothing without one. */
  | { readonly type: 'end'; readonly writer: number; readonly outcome: 'commit' | 'abort' }
  /** What compaction leaves of a batch whose records are all gone. */
  | { readonly type: 'emptied'; readonly writer: number };

const anyRecords = fc.record({
  type: fc.constant('records' as const),
  writer: fc.nat({ max: 3 }),
  values: fc.array(fc.option(fc.string({ maxLength: 12 })), { minLength: 1, maxLength: 4 }),
  step: fc.integer({ min: 1, max: 3 }),
  compression: fc.nat({ max: 3 }),
  headers: fc.dictionary(fc.string({ maxLength: 5 }), fc.string({ maxLength: 5 }), { maxKeys: 2 }),
});
const anyEnd = fc.record({
  type: fc.constant('end' as const),
  writer: fc.integer({ min: 1, max: 3 }),
  outcome: fc.constantFrom('commit' as const, 'abort' as const),
});
const anyEmptied = fc.record({ type: fc.constant('emptied' as const), writer: fc.nat({ max: 3 }) });

/** Half of the histories have one transactional writer, so that kafkajs can be asked too. */
export const anyLog: fc.Arbitrary<LogStep[]> = fc
  .tuple(
    fc.boolean(),
    fc.array(
      fc.oneof(
        { weight: 5, arbitrary: anyRecords },
        { weight: 3, arbitrary: anyEnd },
        { weight: 1, arbitrary: anyEmptied },
      ),
      { minLength: 1, maxLength: 24 },
    ),
  )
  .map(([alone, steps]) => (alone ? steps.map((step) => ({ ...step, writer: Math.min(1, step.writer) })) : steps));

interface WrittenRecord {
  readonly offset: number;
  readonly timestamp: number;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
}

interface WrittenBatch {
  readonly bytes: Buffer;
  readonly lastOffset: number;
  readonly records: readonly WrittenRecord[];
  /** The transaction that it belongs to; null: none. */
  readonly transaction: Transaction | null;
}

interface Transaction {
  readonly producerId: number;
  readonly firstOffset: number;
  endOffset: number;
  aborted: boolean;
}

export interface WrittenLog {
  readonly batches: readonly WrittenBatch[];
  readonly endOffset: number;
  /** In the order of their ends, as a broker lists them. */
  readonly aborted: readonly Transaction[];
  committedFrom(position: number, cutBytes: number): { records: WrittenRecord[]; nextOffset: number };
}

const FIRST_TIMESTAMP = 5_000;
const CONTROL_BIT = 0x20;

export async function writeLog(steps: readonly LogStep[]): Promise<WrittenLog> {
  const writing = new LogWriting();
  for (const step of steps) await writing.take(step);
  await writing.endAll();
  const { batches, aborted, nextOffset: endOffset } = writing;
  return {
    batches,
    aborted,
    endOffset,
    committedFrom: (position, cutBytes) => {
      const { whole } = answer(batches, position, cutBytes);
      const visible = whole.filter(({ transaction }) => !transaction?.aborted).flatMap(({ records }) => records);
      return {
        records: visible.filter(({ offset }) => offset >= position),
        nextOffset: (whole.at(-1)?.lastOffset ?? position - 1) + 1,
      };
    },
  };
}

class LogWriting {
  readonly batches: WrittenBatch[] = [];
  readonly aborted: Transaction[] = [];
  nextOffset = 0;
  private readonly open = new Map<number, Transaction>();

  async take(step: LogStep): Promise<void> {
    if (step.type === 'end') return this.end(step.writer, step.outcome);
    if (step.type === 'records') return this.append(step);
    await this.write(step.writer, [], { lastOffsetDelta: 2, compression: 0 });
  }

  /** A read_committed response ends before the first open transaction, so here none is left open. */
  async endAll(): Promise<void> {
    for (const writer of [...this.open.keys()]) await this.end(writer, 'commit');
  }

  private async append({ writer, values, step, compression, headers }: LogStep & { type: 'records' }): Promise<void> {
    const records = values.map((value, index) => ({
      key: index % 2 === 0 ? null : Buffer.from(`key ${String(index)}`),
      value: value === null ? null : Buffer.from(value),
      headers,
      offsetDelta: index * step,
      timestampDelta: index * 3,
    }));
    await this.write(writer, records, { lastOffsetDelta: (values.length - 1) * step, compression });
  }

  private async write(
    writer: number,
    records: readonly { key: Buffer | null; value: Buffer | null; offsetDelta: number; timestampDelta: number }[],
    { lastOffsetDelta, compression }: { lastOffsetDelta: number; compression: number },
  ): Promise<void> {
    const firstOffset = this.nextOffset;
    const transaction = writer === 0 ? null : this.begin(writer, firstOffset);
    const { buffer } = await RecordBatch({
      ...{ compression, firstOffset, lastOffsetDelta, transactional: writer > 0, producerId: writer },
      ...{ firstTimestamp: FIRST_TIMESTAMP, maxTimestamp: FIRST_TIMESTAMP + 3 * records.length },
      records: records.map(encodeStockRecord),
    });
    this.batches.push({
      bytes: buffer,
      lastOffset: firstOffset + lastOffsetDelta,
      transaction,
      records: records.map(({ key, value, offsetDelta, timestampDelta }) => ({
        offset: firstOffset + offsetDelta,
        timestamp: FIRST_TIMESTAMP + timestampDelta,
        key,
        value,
      })),
    });
    this.nextOffset += lastOffsetDelta + 1;
  }

  private begin(writer: number, firstOffset: number): Transaction {
    const open = this.open.get(writer) ?? { producerId: writer, firstOffset, endOffset: -1, aborted: false };
    this.open.set(writer, open);
    return open;
  }

  private async end(writer: number, outcome: 'commit' | 'abort'): Promise<void> {
    const transaction = this.open.get(writer);
    if (!transaction) return;
    this.open.delete(writer);
    transaction.endOffset = this.nextOffset;
    transaction.aborted = outcome === 'abort';
    if (transaction.aborted) this.aborted.push(transaction);
    await this.write(0, [], { lastOffsetDelta: 0, compression: 0 });
    this.batches.pop();
    this.batches.push(await marker(transaction, outcome));
  }
}

/** What the broker appends at the end of a transaction: key int16 version, int16 type (0 abort, 1 commit). */
async function marker(transaction: Transaction, outcome: 'commit' | 'abort'): Promise<WrittenBatch> {
  const record = { key: Buffer.from([0, 0, 0, outcome === 'abort' ? 0 : 1]), value: Buffer.alloc(6) };
  const { buffer: bytes } = await RecordBatch({
    ...{ firstOffset: transaction.endOffset, transactional: true, producerId: transaction.producerId },
    records: [encodeStockRecord(record)],
  });
  bytes.writeInt16BE(bytes.readInt16BE(21) | CONTROL_BIT, 21);
  bytes.writeUInt32BE(crc32c(bytes.subarray(21)), 17);
  return { bytes, lastOffset: transaction.endOffset, records: [], transaction: null };
}

/** As a broker answers: from the batch that holds the position on; the response's limit cuts any batch but the first. */
function answer(batches: readonly WrittenBatch[], position: number, cutBytes: number): AnsweredBatches {
  const answered = batches.filter(({ lastOffset }) => lastOffset >= position);
  const bytes = Buffer.concat(answered.map((batch) => batch.bytes));
  const cut = Math.min(cutBytes, bytes.length - (answered[0]?.bytes.length ?? 0));
  for (let left = cut; left > 0;) left -= answered.pop()?.bytes.length ?? left;
  return { data: bytes.subarray(0, bytes.length - cut), whole: answered };
}

interface AnsweredBatches {
  readonly data: Buffer;
  readonly whole: readonly WrittenBatch[];
}

/** A Fetch v11 response with this one partition. */
export function fetchResponse(log: WrittenLog, position: number, cutBytes: number): Buffer {
  const { data } = answer(log.batches, position, cutBytes);
  const aborted = log.aborted.filter(({ endOffset }) => endOffset >= position);
  const head = Buffer.alloc(64 + aborted.length * 16);
  let at = head.writeInt32BE(0, 0);
  at = head.writeInt16BE(0, at);
  at = head.writeInt32BE(0, at);
  at = head.writeInt32BE(1, at);
  at = head.writeInt16BE(1, at);
  at += head.write('t', at);
  at = head.writeInt32BE(1, at);
  at = head.writeInt32BE(0, at); // partition
  at = head.writeInt16BE(0, at);
  for (const offset of [log.endOffset, log.endOffset, 0]) at = head.writeBigInt64BE(BigInt(offset), at);
  at = head.writeInt32BE(aborted.length, at);
  for (const { producerId, firstOffset } of aborted) {
    at = head.writeBigInt64BE(BigInt(producerId), at);
    at = head.writeBigInt64BE(BigInt(firstOffset), at);
  }
  at = head.writeInt32BE(-1, at);
  at = head.writeInt32BE(data.length, at);
  return Buffer.concat([head.subarray(0, at), data]);
}
