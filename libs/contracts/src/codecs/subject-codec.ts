import type avro from 'avsc';
import { AvroEncoder } from '../avro/avro-encoder.js';
import { avroTypeOf, type LargeOptionalLongs } from '../avro/avro-type.js';
import { type AvroResolver, readAvro, resolverOf } from '../avro/strict-avro-reader.js';
import { ContractsError, messageOf } from '../contracts-error.js';
import type { SchemaRegistryPort } from '../registry/schema-registry.js';
import type { WriterSchemas } from '../registry/writer-schemas.js';

export type DecodeResult<T> =
  | { readonly type: 'decoded'; readonly value: T }
  /** Not in the wire format, or inconsistent with its schema. */
  | { readonly type: 'malformed'; readonly detail: string }
  /** The registry has no such id. */
  | { readonly type: 'unknown_schema'; readonly id: number }
  /** The registry has the schema, but its data cannot be read as ours. */
  | { readonly type: 'incompatible_schema'; readonly id: number; readonly detail: string }
  /** Not looked up yet, or evicted since (many unknown ids at once): `await resolve([id])` and decode again. */
  | { readonly type: 'unresolved'; readonly id: number };

/**
 * The codec of one subject. `prepare` and `resolve` call the registry; `encode` and `decode` are synchronous.
 */
export interface SubjectCodec<T> {
  readonly subject: string;
  /** Looks up the id of our own schema, for `encode`. Applications never register: the set-up does. */
  prepare(): Promise<void>;
  /** Returns a new buffer. Throws if the value breaks the schema (a bug), or before `prepare`. */
  encode(value: T): Buffer;
  /** Like `encode`, into memory that the next call overwrites. */
  encodeRange(value: T): EncodedRange;
  /** Looks up the writers' schemas of a batch. Rejects (retriable) while the registry is unavailable. */
  resolve(ids: Iterable<number>): Promise<void>;
  /** Never throws. Evolved writers' schemas are read into ours. */
  decode(value: Buffer): DecodeResult<T>;
  /**
   * Like `decode`, for a part of a buffer. `readOwn` replaces avsc for values written with our own schema; it gets the
   * bounds of the Avro data and must refuse, by throwing, exactly what avsc refuses.
   */
  decodeRange(bytes: Buffer, start: number, end: number, readOwn?: OwnReader<T>): DecodeResult<T>;
}

/** A part of a buffer. */
export interface EncodedRange {
  readonly bytes: Buffer;
  readonly start: number;
  readonly end: number;
}

export type OwnReader<T> = (bytes: Buffer, start: number, end: number) => T;

/** Writes a value with our own schema, in place of avsc and byte for byte like it. */
export type OwnWriter<T> = (to: AvroEncoder, value: T) => void;

type WriterReader =
  /** null: the writer's schema is our own. */
  | { readonly type: 'readable'; readonly resolver: AvroResolver | null }
  | Exclude<DecodeResult<never>, { type: 'decoded' }>;

export interface SubjectCodecOptions<T> {
  readonly subject: string;
  readonly schema: object;
  readonly registry: SchemaRegistryPort;
  readonly writers: WriterSchemas;
  readonly write?: OwnWriter<T> | undefined;
  /** Default: refused. */
  readonly largeOptionalLongs?: LargeOptionalLongs | undefined;
}

const INITIAL_SCRATCH_BYTES = 4_096;

export function createSubjectCodec<T>(options: SubjectCodecOptions<T>): SubjectCodec<T> {
  const { subject, schema, registry, writers } = options;
  const readerType = avroTypeOf(schema, options.largeOptionalLongs);
  const writeAvro = options.write ? ownAvroWriter(options.write) : avscWriter(readerType);
  const readers = new Map<number, WriterReader>();
  let writerId: number | null = null;

  /** Building a resolver costs some 100 us: once per writer's schema, never per record. */
  function findReader(id: number): WriterReader {
    const writer = writers.get(id);
    if (writer === undefined) return { type: 'unresolved', id };
    if (writer.type === 'unknown') return { type: 'unknown_schema', id };
    if (writer.type === 'unusable') return { type: 'incompatible_schema', id, detail: writer.detail };
    const built = buildReader(id, readerType, writer.avroType);
    readers.set(id, built);
    return built;
  }

  function encodeRange(value: T): EncodedRange {
    if (writerId === null) throw new ContractsError('codec_not_prepared', `Await prepare() of ${subject} first.`);
    const range = writeAvro(value);
    writeWireHeader(range.bytes, writerId);
    return range;
  }

  function decodeRange(bytes: Buffer, start: number, end: number, readOwn?: OwnReader<T>): DecodeResult<T> {
    const id = schemaIdIn(bytes, start, end);
    if (id === null) return { type: 'malformed', detail: 'not in the Confluent wire format' };
    const reader = readers.get(id) ?? findReader(id);
    if (reader.type !== 'readable') return reader;
    const dataStart = start + WIRE_HEADER_BYTES;
    try {
      if (readOwn && reader.resolver === null) return { type: 'decoded', value: readOwn(bytes, dataStart, end) };
      return { type: 'decoded', value: readAvro(readerType, reader.resolver, bytes.subarray(dataStart, end)) as T };
    } catch (error) {
      return { type: 'malformed', detail: messageOf(error) };
    }
  }

  return {
    subject,
    async prepare() {
      writerId ??= await registry.idOf(subject, schema);
      if (writerId === null) throw notRegistered(subject);
    },
    encode(value) {
      const { bytes, end } = encodeRange(value);
      return Buffer.from(bytes.subarray(0, end));
    },
    encodeRange,
    resolve: (ids) => writers.resolve(ids),
    decode: (value) => decodeRange(value, 0, value.length),
    decodeRange,
  };
}

/** Leaves room for the wire header, like ownAvroWriter. */
function avscWriter(type: avro.Type): (value: unknown) => EncodedRange {
  let scratch = Buffer.allocUnsafeSlow(INITIAL_SCRATCH_BYTES);
  return function write(value): EncodedRange {
    const end = type.encode(value, scratch, WIRE_HEADER_BYTES);
    if (end >= 0) return { bytes: scratch, start: 0, end };
    scratch = Buffer.allocUnsafeSlow(2 * (scratch.length - end));
    return write(value);
  };
}

function ownAvroWriter<T>(write: OwnWriter<T>): (value: T) => EncodedRange {
  const encoder = new AvroEncoder();
  return (value) => {
    encoder.reset(WIRE_HEADER_BYTES);
    write(encoder, value);
    return { bytes: encoder.bytes, start: 0, end: encoder.at };
  };
}

function buildReader(id: number, readerType: avro.Type, writerType: avro.Type): WriterReader {
  try {
    const same = readerType.equals(writerType);
    return { type: 'readable', resolver: same ? null : resolverOf(readerType, writerType) };
  } catch (error) {
    return { type: 'incompatible_schema', id, detail: messageOf(error) };
  }
}

function notRegistered(subject: string): ContractsError {
  return new ContractsError(
    'schema_not_registered',
    `The schema registry does not know this version of ${subject}. Register it with "npm run -s waypost -- set-up", ` +
      'then start again.',
  );
}

/** The value may be a part of a larger buffer, or its own buffer. */
type ValueRecord =
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

const MAGIC_BYTE = 0;

/** Bytes before the Avro data: the magic byte and the schema id, big-endian. */
const WIRE_HEADER_BYTES = 5;

/** The writer's schema id of a Confluent-framed value; null when the bytes are not in that format. */
export function schemaIdOf(value: Buffer): number | null {
  return schemaIdIn(value, 0, value.length);
}

/** The same, for the value from `start` to `end` of `bytes`. */
function schemaIdIn(bytes: Buffer, start: number, end: number): number | null {
  if (end - start < WIRE_HEADER_BYTES || bytes[start] !== MAGIC_BYTE) return null;
  return bytes.readInt32BE(start + 1);
}

function writeWireHeader(target: Buffer, schemaId: number): void {
  target[0] = MAGIC_BYTE;
  target.writeInt32BE(schemaId, 1);
}
