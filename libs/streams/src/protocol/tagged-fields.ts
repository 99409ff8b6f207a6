import type { ByteReader } from './bytes.js';

/*
 * Versions with tagged fields, which kafkajs does not know: those of the request and response headers are the first byte of
 * our payload in both directions. Compact lengths are one more than they say.
 */

export const NO_TAGS = Buffer.from([0]);

export function unsignedVarint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80);
  return Buffer.from([...bytes, rest]);
}

export function compactString(value: string): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([unsignedVarint(bytes.length + 1), bytes]);
}

export function readString(reader: ByteReader): string {
  const start = skipString(reader);
  return reader.buffer.toString('utf8', start, reader.position);
}

/** @returns where it began */
export function skipString(reader: ByteReader): number {
  const length = Math.max(0, reader.unsignedVarint() - 1);
  reader.position += length;
  return reader.position - length;
}

export function skipTags(reader: ByteReader): void {
  for (let left = reader.unsignedVarint(); left > 0; left--) {
    reader.unsignedVarint(); // tag
    const size = reader.unsignedVarint();
    reader.position += size;
  }
}
