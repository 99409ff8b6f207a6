import type { Serde } from '../state/state-store.js';

/** Values as JSON, for whatever JSON carries without loss. What is read is taken at its word: the changelog is one's own. */
export const jsonSerde = <T>(): Serde<T> => ({
  serialize: (value) => Buffer.from(JSON.stringify(value)),
  deserialize: (bytes) => JSON.parse(bytes.toString()) as T,
});
