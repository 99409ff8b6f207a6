import type { SubjectCodec } from './subject-codec.js';
import { schemaIdOf } from './wire-format.js';

/** Looks up the writers' schemas of a batch, so that its records can be decoded without waiting. Rejects as `resolve` does. */
export async function resolveBatch(
  codec: SubjectCodec<unknown>,
  records: Iterable<{ readonly value: Buffer | null }>,
): Promise<void> {
  const ids = new Set<number>();
  for (const { value } of records) {
    const id = value === null ? null : schemaIdOf(value);
    if (id !== null) ids.add(id);
  }
  await codec.resolve(ids);
}
