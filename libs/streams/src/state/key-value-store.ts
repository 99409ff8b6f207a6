import { rangeOf, type StreamRecord } from '../record.js';
import {
  type ChangeSink,
  type EntryScan,
  type Serde,
  type StateStore,
  type StoreDefinition,
  type StoreOptions,
} from './state-store.js';

export interface KeyValueStore<T> {
  get(key: string): T | undefined;
  put(key: string, value: T): void;
  delete(key: string): void;
  /** All entries, uncommitted ones included, in no particular order. The processor may change the store meanwhile. */
  entries(): Iterable<readonly [string, T]>;
  readOnly(): ReadOnlyKeyValueStore<T>;
}

/** The committed entries, for readers outside of the processor. Values are copies. */
export interface ReadOnlyKeyValueStore<T> {
  get(key: string): T | undefined;
  entries(): Iterable<readonly [string, T]>;
}

/**
 * A store of any values under string keys. Values are copied in and out: changing one that was read or put changes
 * nothing here, so nothing survives an aborted transaction. A get() costs one deserialization, about 0.8 us for 100 bytes
 * of JSON. For millions of keys: compactStore().
 */
export function keyValueStore<T>({ serde, ...changelog }: StoreOptions<T>): StoreDefinition<KeyValueStore<T>> {
  return { ...changelog, createStore: () => new MapStore(serde) };
}

/** Changes lie beside the committed entries until their transaction is committed. All values are changelog bytes. */
class MapStore<T> implements StateStore, KeyValueStore<T> {
  readonly checkpointFormat = 'changelog-values';
  private readonly committed = new Map<string, Buffer>();
  private readonly changed = new Map<string, Buffer | null>();

  constructor(private readonly serde: Serde<T>) {}

  get size(): number {
    let { size } = this.committed;
    for (const [key, value] of this.changed) {
      if (this.committed.has(key)) size -= value === null ? 1 : 0;
      else size += value === null ? 0 : 1;
    }
    return size;
  }

  get changeCount(): number {
    return this.changed.size;
  }

  get(key: string): T | undefined {
    return this.valueOf(this.changed.has(key) ? this.changed.get(key) : this.committed.get(key));
  }

  /** A serde may return a view of the bytes that it is given. */
  private valueOf(bytes: Buffer | null | undefined): T | undefined {
    return bytes ? this.serde.deserialize(Buffer.from(bytes)) : undefined;
  }

  put(key: string, value: T): void {
    const { bytes, start, end } = rangeOf(this.serde.serialize(value));
    this.changed.set(key, Buffer.from(bytes.subarray(start, end)));
  }

  delete(key: string): void {
    this.changed.set(key, null);
  }

  *entries(): Generator<readonly [string, T]> {
    for (const key of new Set([...this.committed.keys(), ...this.changed.keys()])) {
      const value = this.get(key);
      if (value !== undefined) yield [key, value];
    }
  }

  writeChanges(into: ChangeSink): void {
    for (const [key, value] of this.changed) {
      const bytes = Buffer.from(key);
      into.appendRanges(bytes, 0, bytes.length, value, 0, value?.length ?? 0);
    }
  }

  commit(): void {
    for (const [key, value] of this.changed) {
      if (value === null) this.committed.delete(key);
      else this.committed.set(key, value);
    }
    this.changed.clear();
  }

  rollback(): void {
    this.changed.clear();
  }

  restore({ key, value }: StreamRecord): void {
    if (!key) return;
    if (value === null) this.committed.delete(key.toString());
    // The record lies in a fetched batch, which must not be kept for it.
    else this.committed.set(key.toString(), Buffer.from(value));
  }

  clear(): void {
    this.committed.clear();
    this.changed.clear();
  }

  readOnly(): ReadOnlyKeyValueStore<T> {
    const { committed } = this;
    return {
      get: (key) => this.valueOf(committed.get(key)),
      entries: () => [...committed].map(([key, bytes]) => [key, this.serde.deserialize(Buffer.from(bytes))]),
    };
  }

  scan(): EntryScan {
    const entries = this.committed.entries();
    return {
      next: (limit, sink) => {
        for (let given = 0; given < limit; given++) {
          const next = entries.next();
          if (next.done === true) return false;
          const key = Buffer.from(next.value[0]);
          const value = next.value[1];
          sink.appendRanges(key, 0, key.length, value, 0, value.length);
        }
        return true;
      },
    };
  }

  load(entry: StreamRecord): void {
    this.restore(entry);
  }
}
