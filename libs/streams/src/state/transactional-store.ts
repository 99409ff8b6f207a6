import type { ForwardedRecord, KeyValueStore, Serde } from '../topology/topology.js';

/**
 * A store whose changes stay beside it until their transaction is committed: a failed transaction leaves no trace.
 * Each key that a transaction touched gives one changelog record, however often it changed.
 */
export interface TransactionalStore<T> extends KeyValueStore<T> {
  readonly size: number;
  /** Something changed since the last commit. */
  readonly dirty: boolean;
  /** The changelog records of everything that changed since the last commit. */
  changes(): ForwardedRecord[];
  commit(): void;
  /** From the changelog; a null value deletes. */
  restore(key: Buffer, value: Buffer | null): void;
}

export const createTransactionalStore = <T>(serde: Serde<T>): TransactionalStore<T> => {
  const committed = new Map<string, T>();
  const dirty = new Map<string, T | undefined>();
  return {
    get size() {
      return committed.size;
    },
    get dirty() {
      return dirty.size > 0;
    },
    get: (key) => (dirty.has(key) ? dirty.get(key) : committed.get(key)),
    put: (key, value) => void dirty.set(key, value),
    delete: (key) => void dirty.set(key, undefined),
    changes: () =>
      [...dirty].map(([key, value]) => ({
        key: Buffer.from(key),
        value: value === undefined ? null : serde.serialize(value),
      })),
    commit: () => {
      for (const [key, value] of dirty) {
        if (value === undefined) committed.delete(key);
        else committed.set(key, value);
      }
      dirty.clear();
    },
    restore: (key, value) => {
      const name = key.toString();
      if (value === null) committed.delete(name);
      else committed.set(name, serde.deserialize(value));
    },
  };
};
