import { beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type KeyValueStore, keyValueStore } from './key-value-store.js';
import { jsonSerde, type StateStore } from './state-store.js';

interface Tally {
  count: number;
}

let store: StateStore & KeyValueStore<Tally>;

beforeEach(() => {
  store = keyValueStore({ changelogTopic: 'tallies', serde: jsonSerde<Tally>() }).createStore();
});

describe('a changelog that holds no JSON', () => {
  it('is reported as corrupt state when the value is read', () => {
    store.restore({ offset: 0, timestamp: 0, key: Buffer.from('van-1'), value: Buffer.from('no JSON') });
    expect(() => store.get('van-1')).toThrow(
      expect.objectContaining({ code: 'CORRUPT_STATE', cause: expect.any(SyntaxError) }),
    );
  });
});

describe('the entries of the key-value store', () => {
  it('are those that the processor sees, and may be changed while they are walked over', () => {
    for (const van of ['van-1', 'van-2', 'van-3']) store.put(van, { count: 1 });
    store.commit();
    store.delete('van-2');
    store.put('van-3', { count: 3 });
    store.put('van-4', { count: 4 });
    const seen: [string, number][] = [];
    for (const [van, { count }] of store.entries()) {
      seen.push([van, count]);
      store.delete(van);
      store.put(`${van} again`, { count: 0 });
    }
    expect(seen.sort()).toEqual([
      ['van-1', 1],
      ['van-3', 3],
      ['van-4', 4],
    ]);
  });

  it('are for others only those that are committed', () => {
    store.put('van-1', { count: 1 });
    store.commit();
    store.put('van-1', { count: 2 });
    store.put('van-2', { count: 2 });
    expect([...store.readOnly().entries()]).toEqual([['van-1', { count: 1 }]]);
    expect([store.readOnly().get('van-1'), store.readOnly().get('van-2')]).toEqual([{ count: 1 }, undefined]);
  });
});

describe('a value of the key-value store', () => {
  it('stays as it was committed when a processor changes what it read and the transaction is aborted', () => {
    store.put('van-1', { count: 1 });
    store.commit();
    const read = store.get('van-1');
    if (read) read.count++;
    store.rollback();
    expect(store.get('van-1')).toEqual({ count: 1 });
  });

  it('is the one that was put, whatever becomes of that object later', () => {
    const put = { count: 1 };
    store.put('van-1', put);
    put.count = 7;
    expect(store.get('van-1')).toEqual({ count: 1 });
  });

  it('shares no bytes with the store, even for a serde that returns its input', () => {
    const bytes = { serialize: (value: Buffer) => value, deserialize: (value: Buffer) => value };
    const raw = keyValueStore({ changelogTopic: 'raw', serde: bytes }).createStore();
    const put = Buffer.from('one');
    raw.put('key', put);
    put.fill('x');
    raw.commit();
    raw.get('key')?.fill('y');
    expect(raw.get('key')?.toString()).toBe('one');
  });
});

const steps = fc.array(
  fc.oneof(
    fc.record({ type: fc.constant('put' as const), key: fc.constantFrom('a', 'b', 'c'), count: fc.nat() }),
    fc.record({ type: fc.constant('delete' as const), key: fc.constantFrom('a', 'b', 'c') }),
    fc.record({ type: fc.constantFrom('commit' as const, 'rollback' as const) }),
  ),
);

describe('the key-value store', () => {
  it('is a map whose changes last from a commit on, and whose changelog makes the same map again', () => {
    fc.assert(
      fc.property(steps, (taken) => {
        const { createStore } = keyValueStore({ changelogTopic: 'tallies', serde: jsonSerde<Tally>() });
        const [original, restored] = [createStore(), createStore()];
        let committed = new Map<string, Tally>();
        let current = new Map<string, Tally>();
        for (const step of [...taken, { type: 'rollback' as const }]) {
          if (step.type === 'put') {
            original.put(step.key, { count: step.count });
            current.set(step.key, { count: step.count });
          } else if (step.type === 'delete') {
            original.delete(step.key);
            current.delete(step.key);
          } else if (step.type === 'commit') {
            copyChanges(original, restored);
            original.commit();
            committed = new Map(current);
          } else {
            original.rollback();
            current = new Map(committed);
          }
          expect(original.size).toBe(current.size);
          expect(['a', 'b', 'c'].map((key) => original.get(key))).toEqual(
            ['a', 'b', 'c'].map((key) => current.get(key)),
          );
        }
        expect(['a', 'b', 'c'].map((key) => restored.get(key))).toEqual(
          ['a', 'b', 'c'].map((key) => committed.get(key)),
        );
      }),
    );
  });
});

function copyChanges(from: StateStore, to: StateStore): void {
  from.writeChanges({
    appendRanges: (key, keyStart, keyEnd, value, valueStart, valueEnd) => {
      to.restore({
        key: Buffer.from(key.subarray(keyStart, keyEnd)),
        value: value === null ? null : Buffer.from(value.subarray(valueStart, valueEnd)),
        offset: 0,
        timestamp: 0,
      });
    },
  });
}
