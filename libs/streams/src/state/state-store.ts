import type { ByteRange, FetchedRecord, StreamRecord } from '../record.js';

/** Where the changelog records of a store go: a RecordBuffer, for the runtime. The bytes are valid during the call only. */
export interface ChangeSink {
  appendRanges(
    key: Uint8Array,
    keyStart: number,
    keyEnd: number,
    value: Uint8Array | null,
    valueStart: number,
    valueEnd: number,
  ): void;
}

/**
 * What the runtime asks of every store. Processors change it inside of a transaction; the runtime ends the transaction
 * with commit() or rollback(), so that whatever failed leaves no trace.
 */
export interface StateStore {
  /** Entries as the processor sees them, uncommitted ones included. */
  readonly size: number;
  /** Keys touched since the last commit or rollback: as many as writeChanges() gives records. */
  readonly changeCount: number;
  /** One changelog record for each touched key, however often it changed. */
  writeChanges(into: ChangeSink): void;
  commit(): void;
  /** Back to exactly what the last commit left. */
  rollback(): void;
  /** A guess of how many entries a restore will bring, so that room is made once and not step by step. */
  expect?(entries: number): void;
  /** Applies a record of the changelog to the committed state; a null value deletes. Nothing may be uncommitted. */
  restore(record: StreamRecord): void;
  /** Forgets everything, uncommitted changes included. */
  clear(): void;
  /** What the values of a checkpoint mean. A checkpoint that says something else is not read. */
  readonly checkpointFormat: string;
  /** Walks over the committed entries in steps; between two steps transactions may come and go. */
  scan(): EntryScan;
  /** Takes an entry that scan() gave, from a checkpoint of the same format. Nothing may be uncommitted. */
  load(entry: FetchedRecord): void;
}

/** Where a scan puts its entries. The bytes are valid during the call only. */
export interface EntrySink {
  entry(
    key: Uint8Array,
    keyStart: number,
    keyEnd: number,
    value: Uint8Array,
    valueStart: number,
    valueEnd: number,
  ): void;
}

/**
 * An entry that is there from the first step to the last is given once; one that changes, comes or goes meanwhile may
 * be given in any of its committed forms, or not. Replaying the changelog from the first step on mends that.
 */
export interface EntryScan {
  /** Gives at most `limit` entries. False: there are no more. Only between transactions. */
  next(limit: number, sink: EntrySink): boolean;
}

/** Turns the values of a store into changelog bytes and back. */
export interface Serde<T> {
  serialize(value: T): Buffer;
  /** As serialize(), into memory that the next call writes over: spares a Buffer for each changed key. */
  serializeRange?(value: T): ByteRange;
  deserialize(bytes: Buffer): T;
  /** As deserialize(), of a part of a buffer: spares a Buffer for each restored record. */
  deserializeRange?(bytes: Buffer, start: number, end: number): T;
}

export interface StoreOptions<T> {
  /** Compacted, with as many partitions as the source. */
  readonly changelogTopic: string;
  readonly serde: Serde<T>;
  /** Before the restore reads the changelog's values, e.g. to look up schemas. */
  readonly prepare?: (records: readonly StreamRecord[]) => Promise<void>;
}

/** A kind of store and its changelog; made by keyValueStore() or compactStore(). `Store` is what processors see of it. */
export interface StoreDefinition<Store> {
  readonly changelogTopic: string;
  readonly prepare?: (records: readonly StreamRecord[]) => Promise<void>;
  readonly createStore: () => StateStore & Store;
}

export function deserializeValue<T>(serde: Serde<T>, record: FetchedRecord | { readonly value: Buffer }): T {
  return 'valueStart' in record && serde.deserializeRange
    ? serde.deserializeRange(record.bytes, record.valueStart, record.valueEnd)
    : serde.deserialize(record.value as Buffer);
}

/** One changelog record; an undefined value is a tombstone. */
export function writeChange<T>(
  into: ChangeSink,
  serde: Serde<T>,
  value: T | undefined,
  key: Uint8Array,
  keyStart: number,
  keyEnd: number,
): void {
  if (value === undefined) {
    into.appendRanges(key, keyStart, keyEnd, null, 0, 0);
  } else if (serde.serializeRange) {
    const { bytes, start, end } = serde.serializeRange(value);
    into.appendRanges(key, keyStart, keyEnd, bytes, start, end);
  } else {
    const bytes = serde.serialize(value);
    into.appendRanges(key, keyStart, keyEnd, bytes, 0, bytes.length);
  }
}

/** Values as JSON, for whatever JSON carries without loss. What is read is taken at its word: the changelog is one's own. */
export function jsonSerde<T>(): Serde<T> {
  return {
    serialize: (value) => Buffer.from(JSON.stringify(value)),
    deserialize: (bytes) => JSON.parse(bytes.toString()) as T,
  };
}
