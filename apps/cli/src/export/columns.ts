import type { AvroRecord, AvroType } from '@waypost/contracts';
import type { DecodedRecord } from '../topic-reading/decode-batch.js';

/** What a column holds; each may be null. `time` is epoch milliseconds, `json` the JSON text of what has parts. */
export type ColumnKind = 'text' | 'integer' | 'long' | 'number' | 'boolean' | 'time' | 'bytes' | 'json';

export interface Column {
  readonly name: string;
  readonly kind: ColumnKind;
  readonly valueOf: (record: DecodedRecord) => unknown;
}

/** Position columns before, and the problem column after, the fields of the value. */
const PLACE: readonly Column[] = [
  { name: 'record_topic', kind: 'text', valueOf: ({ topic }) => topic },
  { name: 'record_partition', kind: 'integer', valueOf: ({ partition }) => partition },
  { name: 'record_offset', kind: 'long', valueOf: ({ offset }) => offset },
  { name: 'record_time', kind: 'time', valueOf: ({ timestamp }) => timestamp },
  { name: 'record_key', kind: 'text', valueOf: ({ key }) => key },
];
const PROBLEM: readonly Column[] = [
  { name: 'record_problem', kind: 'text', valueOf: ({ problem }) => problem ?? null },
  { name: 'record_value_base64', kind: 'text', valueOf: ({ valueBase64 }) => valueBase64 ?? null },
];

/** The columns of a topic: one for each field of its schema, those of records within it under `outer.inner`. */
export function columnsOf(schema: AvroRecord): Column[] {
  return [...PLACE, ...fieldColumns(schema, []), ...PROBLEM];
}

function fieldColumns({ fields }: AvroRecord, outer: readonly string[]): Column[] {
  return fields.flatMap(({ name, type }) => {
    const path = [...outer, name];
    const inner = withoutNull(type);
    if (isRecord(inner)) return fieldColumns(inner, path);
    return [{ name: path.join('.'), kind: kindOf(inner), valueOf: (record) => at(record.value, path) }];
  });
}

function at(value: unknown, path: readonly string[]): unknown {
  let found = value;
  for (const name of path) found = (found as Readonly<Record<string, unknown>> | null | undefined)?.[name];
  return found ?? null;
}

/** The type of a field that is always or sometimes there; a choice of several stays one. */
function withoutNull(type: AvroType): AvroType {
  if (!isUnion(type)) return type;
  const others = type.filter((one) => one !== 'null');
  const [only] = others;
  return others.length === 1 && only !== undefined ? only : type;
}

function isUnion(type: AvroType): type is readonly AvroType[] {
  return Array.isArray(type);
}

function isRecord(type: AvroType): type is AvroRecord {
  return typeof type === 'object' && 'fields' in type;
}

const KINDS: Readonly<Record<string, ColumnKind>> = {
  boolean: 'boolean',
  int: 'integer',
  long: 'long',
  float: 'number',
  double: 'number',
  bytes: 'bytes',
  string: 'text',
};

function kindOf(type: AvroType): ColumnKind {
  if (isUnion(type)) return 'json';
  if (typeof type === 'string') return KINDS[type] ?? 'json';
  if ('logicalType' in type && type.logicalType === 'timestamp-millis') return 'time';
  return 'items' in type || 'values' in type ? 'json' : (KINDS[type.type] ?? 'json');
}
