import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type ChangeSink, type Serde, StreamRecord } from '@waypost/streams';
import { storeContract } from '@waypost/streams/testing';
import { type CompactStore, compactStore, HashStore } from './compact-store.js';
import type { StructLayout } from './entry-table.js';
import { KeyBuilder } from './key-builder.js';
import { hashWords, type KeyHash } from './slot-table.js';

const layout: StructLayout<number> = {
  byteLength: 8,
  version: '1',
  read: (view, at) => view.getFloat64(at),
  write: (view, at, value) => view.setFloat64(at, value),
};

const serde = {
  serialize: (value: number) => Buffer.from(String(value)),
  deserialize: (bytes: Buffer) => Number(bytes.toString()),
};

function newStore(hash?: KeyHash): HashStore<number> {
  return new HashStore({ layout, serde, ...(hash === undefined ? {} : { hash }) });
}

const builder = new KeyBuilder();
function keyOf(text: string): KeyBuilder {
  return builder.reset().appendText(text);
}

function changelog(key: string, value: number | null, offset = 0): StreamRecord {
  const bytes = value === null ? null : serde.serialize(value);
  return StreamRecord.of({ offset, timestamp: 0, key: Buffer.from(key), value: bytes });
}

function fetched(key: string, value: string): StreamRecord {
  const bytes = Buffer.from(`..${key}${value}..`);
  const middle = 2 + Buffer.byteLength(key);
  return new StreamRecord(0, 0, bytes, 2, middle, middle, bytes.length - 2);
}

function contents(store: HashStore<number>): Map<string, number> {
  const found = new Map<string, number>();
  const scan = store.scan();
  const sink: ChangeSink = {
    appendRanges: (key, keyStart, keyEnd, value, valueStart) => {
      if (!value) return;
      const view = new DataView(value.buffer, value.byteOffset);
      found.set(Buffer.from(key.subarray(keyStart, keyEnd)).toString(), view.getFloat64(valueStart));
    },
  };
  while (scan.next(3, sink));
  return found;
}

type Step =
  | { readonly type: 'put' | 'restore'; readonly key: string; readonly value: number }
  | { readonly type: 'delete' | 'get' | 'restoreNull'; readonly key: string }
  | { readonly type: 'commit' | 'rollback' | 'clear' };

const keys = fc.oneof(
  fc.constantFrom('', 'a', 'b', 'abcd', 'abcde', 'ab\u0000', 'ab', 'ü\u001fé', 'x'.repeat(300)),
  fc.integer({ min: 0, max: 200 }).map((n) => `device-${String(n)}`),
);
/** Without -0: the changelog's text does not tell it from 0. */
const values = fc.double({ noNaN: true }).map((value) => value + 0);
const steps: fc.Arbitrary<Step> = fc.oneof(
  { weight: 80, arbitrary: fc.record({ type: fc.constant('put' as const), key: keys, value: values }) },
  { weight: 30, arbitrary: fc.record({ type: fc.constantFrom('delete' as const, 'get' as const), key: keys }) },
  { weight: 20, arbitrary: fc.record({ type: fc.constant('restore' as const), key: keys, value: values }) },
  { weight: 10, arbitrary: fc.record({ type: fc.constant('restoreNull' as const), key: keys }) },
  { weight: 20, arbitrary: fc.record({ type: fc.constantFrom('commit' as const, 'rollback' as const) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('clear' as const) }) },
);

/** What a store is, said with plain maps. `logged` is the changelog replayed: it must always equal what was committed. */
class Model {
  committed = new Map<string, number>();
  current = new Map<string, number>();
  readonly logged = new Map<string, number>();
  touched = new Set<string>();

  apply(step: Step): void {
    if (step.type === 'put') {
      this.current.set(step.key, step.value);
      this.touched.add(step.key);
    } else if (step.type === 'delete') {
      if (this.current.delete(step.key)) this.touched.add(step.key);
    } else if (step.type === 'commit' || step.type === 'rollback') {
      if (step.type === 'commit') this.committed = new Map(this.current);
      this.current = new Map(this.committed);
      this.touched.clear();
    } else if (step.type === 'clear') {
      this.committed.clear();
      this.current.clear();
      this.touched.clear();
      this.logged.clear();
    }
  }
}

interface Change {
  readonly key: string;
  readonly value: Buffer | null;
}

function changesOf(store: Pick<HashStore<unknown>, 'writeChanges'>): Change[] {
  const changes: Change[] = [];
  store.writeChanges({
    appendRanges: (key, keyStart, keyEnd, value, valueStart, valueEnd) =>
      changes.push({
        key: Buffer.from(key.subarray(keyStart, keyEnd)).toString(),
        value: value && Buffer.from(value.subarray(valueStart, valueEnd)),
      }),
  });
  return changes;
}

function run(store: HashStore<number>, step: Step, model: Model): void {
  switch (step.type) {
    case 'put':
      // Mostly get-then-put, as a processor does it; put alone for the rest.
      if (step.value > 0) store.get(keyOf(step.key));
      else keyOf(step.key);
      store.put(builder, step.value);
      break;
    case 'delete':
      store.delete(keyOf(step.key));
      break;
    case 'get':
      expect(store.get(keyOf(step.key))).toBe(model.current.get(step.key));
      break;
    case 'commit':
      for (const { key, value } of changesOf(store)) {
        if (value === null) model.logged.delete(key);
        else model.logged.set(key, serde.deserialize(value));
      }
      store.commit();
      break;
    case 'rollback':
    case 'clear':
      store[step.type]();
      break;
    case 'restore':
    case 'restoreNull': {
      // Only between transactions.
      run(store, { type: 'rollback' }, model);
      model.apply({ type: 'rollback' });
      const value = step.type === 'restore' ? step.value : null;
      store.restore(changelog(step.key, value));
      for (const map of [model.committed, model.current, model.logged]) {
        if (value === null) map.delete(step.key);
        else map.set(step.key, value);
      }
    }
  }
}

const hashes: [string, KeyHash][] = [
  ['its own hash', hashWords],
  ['a hash of eight values', (words, start, count) => hashWords(words, start, count) & 7],
  ['a hash that is always the same', () => 0x7fff_ffff],
  ['a hash that differs in its upper bits only', (words, start, count) => hashWords(words, start, count) & ~0xffff],
];

describe.each(hashes)('a compact store with %s', (_name, hash) => {
  it('is what plain maps say, whatever is put, deleted, restored, committed and rolled back', () => {
    fc.assert(
      fc.property(fc.array(steps, { maxLength: 400, size: 'max' }), (sequence) => {
        const store = newStore(hash);
        const model = new Model();
        for (const step of sequence) {
          run(store, step, model);
          model.apply(step);
          expect(store.size).toBe(model.current.size);
          expect(new Set(changesOf(store).map(({ key }) => key))).toEqual(model.touched);
          expect(store.changeCount).toBe(model.touched.size);
        }
        for (const [key, value] of model.current) expect(store.get(keyOf(key))).toBe(value);
        store.rollback();
        expect(contents(store)).toEqual(model.committed);
        expect(model.logged).toEqual(model.committed);
      }),
      { numRuns: 40 },
    );
  });
});

describe('the store that compactStore() defines', () => {
  const contract = storeContract<CompactStore<number>>({
    ...compactStore({ changelogTopic: 'numbers', layout, serde }),
    put: (store, key, value) => store.put(keyOf(key), value),
    delete: (store, key) => store.delete(keyOf(key)),
    get: (store, key) => store.get(keyOf(key)),
  });

  it.each(contract)('$rule', ({ check }) => check());
});

describe('a compact store', () => {
  it('looks a key up again after its entry was removed, though the key is the same object', () => {
    const store = newStore();
    const key = new KeyBuilder().appendText('a');
    const other = new KeyBuilder().appendText('b');
    store.put(key, 1);
    store.commit();
    store.delete(key);
    store.commit();
    store.put(key, 2);
    store.put(other, 3);
    store.commit();
    expect([store.get(key), store.get(other)]).toEqual([2, 3]);

    store.clear();
    expect(store.get(other)).toBeUndefined();
    store.put(other, 4);
    store.commit();
    expect([...contents(store)]).toEqual([['b', 4]]);
  });

  it('finds each of many keys again after it has grown, and none that was never put', () => {
    const store = newStore();
    for (let n = 0; n < 20_000; n++) store.put(keyOf(`device-${String(n)}`), n);
    store.commit();
    const numbers = Array.from({ length: 20_000 }, (_, n) => n);
    expect(numbers.filter((n) => store.get(keyOf(`device-${String(n)}`)) !== n)).toEqual([]);
    expect(store.get(keyOf('device-20000'))).toBeUndefined();
  });

  it('has the same entries after room for more was reserved', () => {
    const store = newStore();
    for (let i = 0; i < 200; i++) store.put(keyOf(String(i)), i);
    store.expect(10_000);
    store.expect(5);
    const { bufferBytes } = store;
    for (let i = 0; i < 3; i++) store.expect(10_000);
    expect(store.bufferBytes).toBe(bufferBytes);
    expect(store.get(keyOf('7'))).toBe(7);
    store.put(keyOf('200'), 200);
    store.commit();
    expect(contents(store)).toEqual(new Map(Array.from({ length: 201 }, (_, i) => [String(i), i])));
  });

  it('uses the room of deleted entries and keys again', () => {
    const store = newStore();
    const fill = (round: number): void => {
      for (let n = 0; n < 5_000; n++) store.put(keyOf(`device-${String(round)}-${String(n).padStart(5, '0')}`), n);
      store.commit();
      for (let n = 0; n < 5_000; n++) store.delete(keyOf(`device-${String(round)}-${String(n).padStart(5, '0')}`));
      store.commit();
    };
    fill(0);
    const once = store.bufferBytes;
    for (let round = 1; round < 6; round++) fill(round);
    expect(store.size).toBe(0);
    expect(store.bufferBytes).toBe(once);
  });

  it('takes records of a fetch by their ranges, without the bytes around them', () => {
    const store = newStore();
    store.restore(fetched('a', '41'));
    store.restore(fetched('a', '42'));
    expect(contents(store)).toEqual(new Map([['a', 42]]));
  });

  it('refuses a key that is too long to have its length in an entry', () => {
    expect(() => keyOf('x'.repeat(65_536))).toThrow(/65535 bytes/);
    expect(() => keyOf('x'.repeat(65_530)).appendText('123456')).toThrow(/65535 bytes/);
    const store = newStore();
    store.put(keyOf('x'.repeat(65_535)), 1);
    expect(store.get(keyOf('x'.repeat(65_535)))).toBe(1);
  });

  it('reloads what a scan gave', () => {
    const store = newStore();
    for (let n = 0; n < 100; n++) store.put(keyOf(`device-${String(n)}`), n / 3);
    store.commit();
    const copy = newStore();
    const scan = store.scan();
    const sink: ChangeSink = {
      appendRanges: (key, keyStart, keyEnd, value, valueStart, valueEnd) => {
        if (!value) return;
        const bytes = Buffer.concat([key.subarray(keyStart, keyEnd), value.subarray(valueStart, valueEnd)]);
        const middle = keyEnd - keyStart;
        copy.load(new StreamRecord(0, 0, bytes, 0, middle, middle, bytes.length));
      },
    };
    while (scan.next(7, sink));
    expect(contents(copy)).toEqual(contents(store));
    expect(copy.changeCount).toBe(0);
  });

  it.each([20_000, 100_000])('needs at most 64 bytes beside the key for each of %d values of 41 bytes', (count) => {
    const store = new HashStore({ layout: { ...layout, byteLength: 41 }, serde });
    let keyBytes = 0;
    for (let n = 0; n < count; n++) {
      keyOf(`fleet-${String(n % 40)}\u001fdevice-${String(n)}`);
      keyBytes += builder.length;
      store.put(builder, n);
      if (n % 500 === 0) store.commit();
    }
    store.commit();
    expect((store.bufferBytes - keyBytes) / count).toBeLessThanOrEqual(64);
  });
});

describe('a value that is changed in place', () => {
  class Cell {
    constructor(
      private readonly view: DataView,
      private readonly at: number,
    ) {}

    get value(): number {
      return this.view.getFloat64(this.at);
    }

    set(value: number): void {
      this.view.setFloat64(this.at, value);
    }
  }
  interface Value {
    readonly value: number;
  }
  const cells: StructLayout<Value, object, Cell> = {
    byteLength: 8,
    version: '1',
    read: (view, at) => new Cell(view, at),
    write: (view, at, { value }) => view.setFloat64(at, value),
  };
  const cellSerde: Serde<Value> = {
    serialize: ({ value }) => Buffer.from(String(value)),
    deserialize: (bytes) => ({ value: Number(bytes.toString()) }),
  };
  const storeWith = (value: number) => {
    const store = new HashStore({ layout: cells, serde: cellSerde });
    store.put(keyOf('a'), { value });
    store.commit();
    return store;
  };

  it('goes to the changelog with the transaction', () => {
    const store = storeWith(1);
    store.edit(keyOf('a'))?.set(2);
    expect(store.changeCount).toBe(1);
    expect(changesOf(store).map(({ key, value }) => `${key}: ${String(value)}`)).toEqual(['a: 2']);
    store.commit();
    expect([store.get(keyOf('a'))?.value, store.changeCount]).toEqual([2, 0]);
  });

  it('is as it was before after a rollback', () => {
    const store = storeWith(1);
    store.edit(keyOf('a'))?.set(2);
    store.edit(keyOf('a'))?.set(3);
    store.rollback();
    expect([store.get(keyOf('a'))?.value, store.changeCount]).toEqual([1, 0]);
  });

  it('is undefined when there is no entry to edit', () => {
    const store = storeWith(1);
    store.delete(keyOf('a'));
    expect([store.edit(keyOf('a')), store.edit(keyOf('b'))]).toEqual([undefined, undefined]);
  });
});
