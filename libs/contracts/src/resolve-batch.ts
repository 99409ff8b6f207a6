import type { SubjectCodec } from './subject-codec.js';
import { schemaIdIn, schemaIdOf } from './wire-format.js';

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
