import type { StreamRecord } from '../record.js';
import {
  type ChangeSink,
  type EntryScan,
  type Serde,
  type StateStore,
  type StoreDefinition,
  type StoreOptions,
  writeChange,
} from './state-store.js';

export interface KeyValueStore<T> {
  get(key: string): T | undefined;
  put(key: string, value: T): void;
  delete(key: string): void;
}

/** A store of any values under string keys; each entry is a JavaScript object. For millions of keys: compactStore(). */
export function keyValueStore<T>({ serde, ...changelog }: StoreOptions<T>): StoreDefinition<KeyValueStore<T>> {
  return { ...changelog, createStore: () => new MapStore(serde) };
}

/** Changes lie beside the committed entries until their transaction is committed. */
class MapStore<T> implements StateStore, KeyValueStore<T> {
  readonly checkpointFormat = 'changelog-values';
  private readonly committed = new Map<string, T>();
  private readonly changed = new Map<string, T | undefined>();

  constructor(private readonly serde: Serde<T>) {}

  get size(): number {
    let { size } = this.committed;
    for (const [key, value] of this.changed) {
      if (this.committed.has(key)) size -= value === undefined ? 1 : 0;
      else size += value === undefined ? 0 : 1;
    }
    return size;
  }

  get changeCount(): number {
    return this.changed.size;
  }

  get(key: string): T | undefined {
    return this.changed.has(key) ? this.changed.get(key) : this.committed.get(key);
  }

  put(key: string, value: T): void {
    this.changed.set(key, value);
  }

  delete(key: string): void {
    this.changed.set(key, undefined);
  }

  writeChanges(into: ChangeSink): void {
    for (const [key, value] of this.changed) {
      const bytes = Buffer.from(key);
      writeChange(into, this.serde, value, bytes, 0, bytes.length);
    }
  }

  commit(): void {
    for (const [key, value] of this.changed) {
      if (value === undefined) this.committed.delete(key);
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
    else this.committed.set(key.toString(), this.serde.deserialize(value));
  }

  clear(): void {
    this.committed.clear();
    this.changed.clear();
  }

  scan(): EntryScan {
    const entries = this.committed.entries();
    return {
      next: (limit, sink) => {
        for (let given = 0; given < limit; given++) {
          const next = entries.next();
          if (next.done === true) return false;
          const key = Buffer.from(next.value[0]);
          const value = this.serde.serialize(next.value[1]);
          sink.entry(key, 0, key.length, value, 0, value.length);
        }
        return true;
      },
    };
  }

  load(entry: StreamRecord): void {
    this.restore(entry);
  }
}
