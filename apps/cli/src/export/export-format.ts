import { stringify } from 'csv-stringify/sync';
import { type DecodedRecord, toJson } from '../topic-reading/decode-batch.js';
import type { Column } from './columns.js';

/** Writes records as text; what it gives back ends with a line's end, or is empty. */
export interface TextFormat {
  readonly header: string;
  textOf(records: readonly DecodedRecord[]): string;
}

/** One JSON object a line, as `read` has always printed them: times are epoch milliseconds. */
export const ndjsonFormat: TextFormat = {
  header: '',
  textOf: (records) => records.map((record) => `${toJson(record)}\n`).join(''),
};

/**
 * RFC 4180 with a header; times as ISO 8601, null as empty. Text that a spreadsheet would run as a formula begins with a quote:
 * names in records come from outside.
 */
export function csvFormat(columns: readonly Column[], { keepFormulas = false } = {}): TextFormat {
  const options = { escape_formulas: !keepFormulas };
  return {
    header: stringify([columns.map(({ name }) => name)]),
    textOf: (records) =>
      stringify(
        records.map((record) => columns.map((column) => csvValue(column, record))),
        options,
      ),
  };
}

function csvValue({ kind, valueOf }: Column, record: DecodedRecord): string | number {
  const value = valueOf(record);
  if (value === null) return '';
  switch (kind) {
    case 'time':
      return new Date(value as number).toISOString();
    case 'bytes':
      return Buffer.from(value as Uint8Array).toString('base64');
    case 'json':
      return toJson(value as object);
    case 'text':
      return value as string;
    case 'boolean':
      return value === true ? 'true' : 'false';
    default:
      // As text, the sign of a negative number would begin a formula.
      return value as number;
  }
}
