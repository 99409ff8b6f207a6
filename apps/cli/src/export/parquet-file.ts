import { createReadStream } from 'node:fs';
import { rename } from 'node:fs/promises';
import { type BasicType, fileWriter, ParquetWriter, schemaFromColumnData } from 'hyparquet-writer';
import { linesOf } from '../lines-of.js';
import type { DecodedRecord } from '../topic-reading/decode-batch.js';
import { toJson } from '../topic-reading/decode-batch.js';
import type { Column, ColumnKind } from './columns.js';

/** Rows that are held in memory at a time. */
const ROW_GROUP = 20_000;

const TYPES: Readonly<Record<ColumnKind, BasicType>> = {
  text: 'STRING',
  integer: 'INT32',
  long: 'INT64',
  number: 'DOUBLE',
  boolean: 'BOOLEAN',
  time: 'TIMESTAMP',
  bytes: 'BYTE_ARRAY',
  json: 'JSON',
};

/**
 * Converts NDJSON as written by `read` to Parquet. The file gets its final name when it is complete.
 * @param onRow called with the number of rows read so far
 */
export async function writeParquet(
  { from, to, columns }: { readonly from: string; readonly to: string; readonly columns: readonly Column[] },
  onRow: (rows: number) => void,
): Promise<void> {
  const unfinished = `${to}.tmp`;
  const writer = new ParquetWriter({
    writer: fileWriter(unfinished),
    schema: schemaFromColumnData({ columnData: columnData(columns, []) }),
  });
  let records: DecodedRecord[] = [];
  let rows = 0;
  const flush = async (): Promise<void> => {
    if (records.length > 0) await writer.write({ columnData: columnData(columns, records), rowGroupSize: ROW_GROUP });
    records = [];
  };
  for await (const line of linesOf(createReadStream(from))) {
    records.push(JSON.parse(line) as DecodedRecord);
    onRow((rows += 1));
    if (records.length >= ROW_GROUP) await flush();
  }
  await flush();
  await writer.finish();
  await rename(unfinished, to);
}

function columnData(columns: readonly Column[], records: readonly DecodedRecord[]) {
  return columns.map((column) => ({
    name: column.name,
    type: TYPES[column.kind],
    nullable: true,
    data: records.map((record) => parquetValue(column.kind, column.valueOf(record))),
  }));
}

function parquetValue(kind: ColumnKind, value: unknown): unknown {
  if (value === null) return null;
  switch (kind) {
    case 'long':
      return BigInt(value as number);
    case 'time':
      return new Date(value as number);
    case 'bytes':
      return Buffer.from(value as string, 'base64');
    case 'json':
      return JSON.parse(toJson(value as object)) as unknown;
    default:
      return value;
  }
}
