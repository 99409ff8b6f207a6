import { StreamsError } from '../errors.js';
import { ByteReader, varintSize, writeVarint } from './bytes.js';

/** Keys may repeat; their order is kept. */
export interface RecordHeader {
  readonly key: string;
  readonly value: Buffer | null;
}

export function headersSize(headers: readonly RecordHeader[]): number {
  return headers.reduce((bytes, header) => bytes + headerSize(header), varintSize(headers.length));
}

function headerSize({ key, value }: RecordHeader): number {
  const keyBytes = Buffer.byteLength(key);
  return varintSize(keyBytes) + keyBytes + (value ? varintSize(value.length) + value.length : 1);
}

export function writeHeaders(into: Buffer, position: number, headers: readonly RecordHeader[]): number {
  let at = writeVarint(into, position, headers.length);
  for (const { key, value } of headers) {
    at = writeVarint(into, at, Buffer.byteLength(key));
    at += into.write(key, at);
    at = writeVarint(into, at, value ? value.length : -1);
    if (value) at += value.copy(into, at);
  }
  return at;
}

/** Returns views. @throws StreamsError CORRUPT_BATCH if they run past the end of the bytes */
export function readHeaders(bytes: Buffer, start: number): RecordHeader[] {
  const reader = new ByteReader(bytes);
  reader.position = start;
  const headers: RecordHeader[] = [];
  const count = reader.varint();
  for (let i = 0; i < count; i++) headers.push({ key: String(readField(reader)), value: readField(reader) });
  return headers;
}

function readField(reader: ByteReader): Buffer | null {
  const length = reader.varint();
  if (length < 0) return null;
  if (length > reader.remaining) throw new StreamsError('CORRUPT_BATCH', 'The headers of a record run past its end.');
  const start = reader.position;
  reader.position += length;
  return reader.buffer.subarray(start, reader.position);
}
