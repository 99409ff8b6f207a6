import type { SubjectCodec } from './subject-codec.js';

const magicByte = 0;

/** Bytes before the Avro data: the magic byte and the schema id, big-endian. */
export const wireHeaderBytes = 5;

/** The writer's schema id of a Confluent-framed value; null when the bytes are not in that format. */
export function schemaIdOf(value: Buffer): number | null {
  return schemaIdIn(value, 0, value.length);
}

/** The same, of the value that lies from `start` to `end` in `bytes`. */
export function schemaIdIn(bytes: Buffer, start: number, end: number): number | null {
  if (end - start < wireHeaderBytes || bytes[start] !== magicByte) return null;
  return bytes.readInt32BE(start + 1);
}

export function writeWireHeader(target: Buffer, schemaId: number): void {
  target[0] = magicByte;
  target.writeInt32BE(schemaId, 1);
}

/** A record of a log. One that says where its value lies in a larger buffer is spared a view of it. */
export type ValueRecord =
  | { readonly bytes: Buffer; readonly valueStart: number; readonly valueEnd: number }
  | { readonly value: Buffer | null };

/** Looks up the writers' schemas of a batch, so that its records can be decoded without waiting. Rejects as `resolve` does. */
export async function resolveBatch(codec: SubjectCodec<unknown>, records: Iterable<ValueRecord>): Promise<void> {
  const ids = new Set<number>();
  let last: number | null = null;
  for (const record of records) {
    const id = schemaIdOfRecord(record);
    if (id !== null && id !== last) ids.add(id);
    last = id;
  }
  await codec.resolve(ids);
}

function schemaIdOfRecord(record: ValueRecord): number | null {
  if ('valueStart' in record) {
    return record.valueStart < 0 ? null : schemaIdIn(record.bytes, record.valueStart, record.valueEnd);
  }
  return record.value === null ? null : schemaIdOf(record.value);
}
