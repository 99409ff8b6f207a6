import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { FetchedRecord } from '../../record.js';
import { createCompactStore, type HashStore } from './compact-store.js';
import type { StructLayout } from './entry-table.js';
import { KeyBuilder } from './key-builder.js';

interface Value {
  readonly count: number;
  /** Of most values there are none. */
  readonly names: readonly string[];
}

const layout: StructLayout<Value, readonly string[]> = {
  byteLength: 9,
  version: '1',
  read: (view, at, names = []) => ({ count: view.getFloat64(at), names }),
  write: (view, at, { count, names }) => {
    view.setFloat64(at, count);
    view.setUint8(at + 8, names.length);
  },
  rest: {
    isPresent: (view, at) => view.getUint8(at + 8) > 0,
    of: ({ names }) => (names.length === 0 ? undefined : names),
    toBytes: (names) => Buffer.from(JSON.stringify(names)),
    fromBytes: (bytes) => JSON.parse(Buffer.from(bytes).toString()) as string[],
  },
};

const serde = {
  serialize: (value: Value) => Buffer.from(JSON.stringify(value)),
  deserialize: (bytes: Buffer) => JSON.parse(bytes.toString()) as Value,
};

const newStore = (): HashStore<Value> => createCompactStore({ layout, serde });
const builder = new KeyBuilder();
const keyOf = (text: string): KeyBuilder => builder.reset().appendText(text);

type Step =
  | { readonly type: 'put'; readonly key: string; readonly value: Value }
  | { readonly type: 'delete' | 'restore'; readonly key: string; readonly value: Value | null }
  | { readonly type: 'commit' | 'rollback' | 'snapshot' };

const keys = fc.constantFrom('a', 'b', 'c', 'd');
const values = fc.record({ count: fc.nat(), names: fc.array(fc.constantFrom('x', 'y', 'é'), { maxLength: 3 }) });
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.record({ type: fc.constant('put' as const), key: keys, value: values }) },
    { weight: 2, arbitrary: fc.record({ type: fc.constant('delete' as const), key: keys, value: fc.constant(null) }) },
    { weight: 3, arbitrary: fc.record({ type: fc.constantFrom('commit' as const, 'rollback' as const) }) },
    { weight: 1, arbitrary: fc.record({ type: fc.constant('snapshot' as const) }) },
    {
      weight: 1,
      arbitrary: fc.record({
        type: fc.constant('restore' as const),
        key: keys,
        value: fc.option(values, { nil: null }),
      }),
    },
  ),
  { maxLength: 60 },
);

/** A store that has what a snapshot of the other holds. */
const throughSnapshot = (store: HashStore<Value>): HashStore<Value> => {
  const loaded = newStore();
  // Over something else, as an entry that is given twice is.
  for (const key of ['a', 'b']) loaded.restore({ offset: 0, timestamp: 0, key: Buffer.from(key), value: someBytes });
  for (const key of ['a', 'b']) loaded.restore({ offset: 0, timestamp: 0, key: Buffer.from(key), value: null });
  const sink = {
    entry: (key: Uint8Array, keyStart: number, keyEnd: number, value: Uint8Array, start: number, end: number) => {
      const bytes = Buffer.concat([key.subarray(keyStart, keyEnd), value.subarray(start, end)]);
      loaded.load(new FetchedRecord(0, 0, bytes, 0, keyEnd - keyStart, keyEnd - keyStart, bytes.length));
    },
  };
  const scan = store.scan();
  while (scan.next(2, sink));
  return loaded;
};

const someBytes = serde.serialize({ count: 1, names: ['old'] });

describe('a compact store whose values have a part without a fixed width', () => {
  it('keeps every value whole through changes, rollbacks, restores and snapshots', () => {
    fc.assert(
      fc.property(steps, (all) => {
        let store = newStore();
        let committed = new Map<string, Value>();
        let current = new Map<string, Value>();
        const commit = (): void => {
          store.commit();
          committed = new Map(current);
        };
        for (const step of all) {
          switch (step.type) {
            case 'put':
              store.put(keyOf(step.key), step.value);
              current.set(step.key, step.value);
              break;
            case 'delete':
              store.delete(keyOf(step.key));
              current.delete(step.key);
              break;
            case 'commit':
              commit();
              break;
            case 'rollback':
              store.rollback();
              current = new Map(committed);
              break;
            case 'snapshot':
              commit();
              store = throughSnapshot(store);
              break;
            case 'restore':
              commit();
              store.restore({
                ...{ offset: 0, timestamp: 0, key: Buffer.from(step.key) },
                value: step.value && serde.serialize(step.value),
              });
              if (step.value) current.set(step.key, step.value);
              else current.delete(step.key);
              committed = new Map(current);
          }
          for (const key of ['a', 'b', 'c', 'd']) expect(store.get(keyOf(key))).toEqual(current.get(key));
        }
      }),
    );
  });

  it('gives back the same object as long as it is put back', () => {
    const store = newStore();
    const names = ['x'];
    store.put(keyOf('a'), { count: 1, names });
    store.put(keyOf('a'), { count: 2, names: store.get(keyOf('a'))?.names ?? [] });
    expect(store.get(keyOf('a'))?.names).toBe(names);
  });

  it.each([
    ['changed', () => undefined],
    [
      'deleted and put anew',
      (store: HashStore<Value>) => {
        store.delete(keyOf('a'));
      },
    ],
  ])('lets go of the part when a value that had one is %s without it', (_, before) => {
    const store = newStore();
    store.put(keyOf('a'), { count: 1, names: ['x'] });
    store.commit();
    before(store);
    store.put(keyOf('a'), { count: 2, names: [] });
    store.commit();
    const lengths: number[] = [];
    store.scan().next(1, { entry: (_key, _start, _end, _value, start, end) => void lengths.push(end - start) });
    expect(lengths).toEqual([layout.byteLength]);
  });
});
