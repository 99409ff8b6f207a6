import { type DecodeResult, schemaIdOf, type SubjectCodec } from '@waypost/contracts';
import type { RecordBatch } from '@waypost/streams';

/** One record as `read` prints it. */
export interface DecodedRecord {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  /** Epoch ms. */
  readonly timestamp: number;
  readonly key: string | null;
  readonly value: unknown;
  /** Why there is no value; the raw bytes follow. */
  readonly problem?: string;
  readonly valueBase64?: string;
}

/** Decodes a batch by its topic's schema. A value that cannot be decoded is shown as its bytes, with the reason. */
export async function decodeBatch(codec: SubjectCodec<unknown>, batch: RecordBatch): Promise<DecodedRecord[]> {
  const ids = new Set<number>();
  for (const { value } of batch.records) {
    const id = value === null ? null : schemaIdOf(value);
    if (id !== null) ids.add(id);
  }
  await codec.resolve(ids);
  return batch.records.map(({ offset, timestamp, key, value }) => ({
    topic: batch.topic,
    partition: batch.partition,
    offset,
    timestamp,
    key: key === null ? null : key.toString('utf8'),
    ...(value === null ? { value: null } : shown(codec.decode(value), value)),
  }));
}

function shown(result: DecodeResult<unknown>, bytes: Buffer): Pick<DecodedRecord, 'value' | 'problem' | 'valueBase64'> {
  if (result.type === 'decoded') return { value: result.value };
  return { value: null, problem: problemOf(result), valueBase64: bytes.toString('base64') };
}

function problemOf(result: Exclude<DecodeResult<unknown>, { type: 'decoded' }>): string {
  switch (result.type) {
    case 'malformed':
      return `malformed: ${result.detail}`;
    case 'unknown_schema':
      return `unknown_schema: the registry does not know schema id ${String(result.id)}`;
    case 'incompatible_schema':
      return `incompatible_schema: id ${String(result.id)}: ${result.detail}`;
    case 'unresolved':
      return `unresolved: schema id ${String(result.id)} was not looked up`;
  }
}

/** JSON of a record; byte fields become base64. */
export function toJson(record: object): string {
  return JSON.stringify(record, (_name, value: unknown) => {
    const bytes = value as { readonly type?: unknown; readonly data?: unknown } | null;
    const isBytes = typeof value === 'object' && bytes?.type === 'Buffer' && Array.isArray(bytes.data);
    return isBytes ? Buffer.from(bytes.data as number[]).toString('base64') : value;
  });
}
