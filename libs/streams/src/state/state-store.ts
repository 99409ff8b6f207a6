import { errorMessage, StreamsError } from '../errors.js';
import type { ByteRange, StreamRecord } from '../record.js';

/** Receives the changes, a RecordBuffer in the runtime. The bytes are valid only during the call. */
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

/** The committed entries, for readers outside of the processor. Values are copies. */
export interface ReadOnlyKeyValueStore<T> {
  get(key: string): T | undefined;
  /** Reads each entry when it is asked for: after a wait, entries may be of a later commit. */
  entries(): Iterable<readonly [string, T]>;
}

/**
 * What the runtime needs from every store. Processors change it inside a transaction; the runtime ends the transaction
 * with commit() or rollback(), so that a failure leaves no trace.
 */
export interface StateStore {
  /** Entries as the processor sees them, uncommitted ones included. */
  readonly size: number;
  /** Keys touched since the last commit or rollback: as many as writeChanges() gives records. */
  readonly changeCount: number;
  /** Writes one changelog record for each touched key, however often it changed. */
  writeChanges(into: ChangeSink): void;
  commit(): void;
  /** Restores exactly the state of the last commit. */
  rollback(): void;
  /** Takes an estimate of the entries of a restore, so that memory is allocated once. */
  expect?(entries: number): void;
  /** Applies a record of the changelog to the committed state; a null value deletes. Nothing may be uncommitted. */
  restore(record: StreamRecord): void;
  /** Sets the stream time by which entries expire. After a rollback it may be earlier. */
  advanceTo?(streamTimeMs: number): void;
  /** Deletes some expired entries, as changes of the transaction. */
  expire?(): void;
  /** A view for readers outside of the processor; absent: there is none. */
  readOnly?(): ReadOnlyKeyValueStore<unknown>;
  /** Forgets everything, uncommitted changes included. */
  clear(): void;
  /** The format of values in a checkpoint. A checkpoint with another format is not read. */
  readonly checkpointFormat: string;
  /** Walks over the committed entries in steps; transactions may run between two steps. */
  scan(): EntryScan;
  /** Loads an entry that scan() returned, from a checkpoint of the same format. Nothing may be uncommitted. */
  load(entry: StreamRecord): void;
}

/**
 * An entry that exists from the first step to the last is returned once; one that changes, appears or disappears may be
 * returned in any of its committed forms, or not at all. Replaying the changelog from the first step on corrects that.
 */
export interface EntryScan {
  /** Returns at most `limit` entries; false: there are no more. Call only between transactions. */
  next(limit: number, sink: ChangeSink): boolean;
}

/** Turns the values of a store into changelog bytes and back. */
export interface Serde<T> {
  /** A range may lie in memory that the next call overwrites: that avoids a Buffer per changed key. */
  serialize(value: T): Buffer | ByteRange;
  deserialize(bytes: Buffer): T;
  /** Like deserialize(), from a part of a buffer: avoids a Buffer per restored record. */
  deserializeRange?(bytes: Buffer, start: number, end: number): T;
}

export interface StoreOptions<T> {
  /** Compacted, with as many partitions as the source. */
  readonly changelogTopic: string;
  readonly serde: Serde<T>;
  /** Called before a restore reads the changelog's values, e.g. to look up schemas. */
  readonly prepare?: ((records: readonly StreamRecord[]) => Promise<void>) | undefined;
}

/** The result of keyValueStore(), or of a function for stores of another kind. `Store` is the interface for processors. */
export interface StoreDefinition<Store> {
  readonly changelogTopic: string;
  readonly prepare?: ((records: readonly StreamRecord[]) => Promise<void>) | undefined;
  readonly createStore: () => Store & StateStore;
}

/** For types that JSON can represent. Reads are not validated: only this store writes its changelog. */
export function jsonSerde<T>(): Serde<T> {
  return {
    serialize: (value) => Buffer.from(JSON.stringify(value)),
    deserialize: (bytes) => {
      try {
        return JSON.parse(bytes.toString()) as T;
      } catch (error) {
        const message = `A value of a changelog is not JSON, so something else has written it: ${errorMessage(error)}`;
        throw new StreamsError('CORRUPT_STATE', message, { cause: error });
      }
    },
  };
}
