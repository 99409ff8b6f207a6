import { beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { StreamRecord } from '../record.js';
import { storeContract } from '../testing/store-contract.js';
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
    store.restore(changelogRecord('van-1', 'no JSON'));
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

describe('the committed entries of the key-value store', () => {
  it('are read one by one, so that a look at a few of a large store costs little', () => {
    let reads = 0;
    const json = jsonSerde<Tally>();
    const deserialize = (bytes: Buffer): Tally => (reads++, json.deserialize(bytes));
    const large = keyValueStore({ changelogTopic: 'tallies', serde: { ...json, deserialize } }).createStore();
    for (const van of ['van-1', 'van-2', 'van-3']) large.put(van, { count: 1 });
    large.commit();
    const [first] = large.readOnly().entries();
    expect([first, reads]).toEqual([['van-1', { count: 1 }], 1]);
  });
});

describe('a key of the key-value store', () => {
  it('must be a string: the Buffer of a record, which no other equals, is refused', () => {
    expect(() => store.put(Buffer.from('van-1') as unknown as string, { count: 1 })).toThrow('are strings');
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

const TTL_MS = 1_000;

function expiring(): StateStore & KeyValueStore<Tally> {
  const options = { changelogTopic: 'tallies', serde: jsonSerde<Tally>(), timeToLiveMs: TTL_MS };
  return keyValueStore(options).createStore();
}

describe('an entry with a time to live', () => {
  beforeEach(() => {
    store = expiring();
    store.advanceTo?.(5_000);
    store.put('van-1', { count: 1 });
    store.commit();
  });

  it('is gone for the processor and for others once the stream time is so much later than at its last put', () => {
    store.advanceTo?.(5_999);
    expect(store.get('van-1')).toEqual({ count: 1 });
    store.put('van-2', { count: 2 });
    store.commit();
    store.advanceTo?.(6_000);
    expect(store.get('van-1')).toBeUndefined();
    expect([...store.entries()]).toEqual([['van-2', { count: 2 }]]);
    expect([...store.readOnly().entries()]).toEqual([['van-2', { count: 2 }]]);
    expect(store.readOnly().get('van-1')).toBeUndefined();
  });

  it('lives on from each put', () => {
    store.advanceTo?.(5_900);
    store.put('van-1', { count: 2 });
    store.commit();
    store.advanceTo?.(6_899);
    store.expire?.();
    expect([store.get('van-1'), store.changeCount]).toEqual([{ count: 2 }, 0]);
  });

  it('is deleted by a change of the transaction, and again when that is rolled back', () => {
    store.advanceTo?.(6_000);
    store.expire?.();
    expect([store.size, store.changeCount]).toEqual([0, 1]);
    store.rollback();
    expect([store.size, store.changeCount]).toEqual([1, 0]);
    store.expire?.();
    store.commit();
    expect(store.size).toBe(0);
  });

  it('stays when the open transaction has put it again', () => {
    store.advanceTo?.(6_000);
    store.put('van-1', { count: 2 });
    store.expire?.();
    store.commit();
    expect(store.get('van-1')).toEqual({ count: 2 });
  });

  it('keeps its time in the changelog', () => {
    const restored = expiring();
    store.put('van-2', { count: 2 });
    copyChanges(store, restored);
    restored.advanceTo?.(5_999);
    expect(restored.get('van-2')).toEqual({ count: 2 });
    restored.advanceTo?.(6_000);
    expect(restored.get('van-2')).toBeUndefined();
    restored.expire?.();
    expect(restored.changeCount).toBe(1);
  });

  it('is deleted after its transaction, where it has expired within it', () => {
    store.advanceTo?.(7_000);
    store.put('van-2', { count: 2 });
    store.advanceTo?.(9_000);
    store.expire?.();
    store.commit();
    store.expire?.();
    store.commit();
    expect(store.size).toBe(0);
  });

  it('stays when it was put before there was any stream time', () => {
    const early = expiring();
    early.put('van-1', { count: 1 });
    early.commit();
    early.advanceTo?.(9_000);
    early.expire?.();
    expect(early.get('van-1')).toEqual({ count: 1 });
  });
});

describe('a store that gets a time to live', () => {
  it('deletes all that expires, a part of a large store at a time', () => {
    store = expiring();
    store.advanceTo?.(0);
    for (let van = 0; van < 2_500; van++) store.put(`van-${String(van)}`, { count: 1 });
    store.commit();
    store.expire?.();
    store.advanceTo?.(TTL_MS);
    const deleted = [1, 2, 3].map(() => {
      store.expire?.();
      return store.changeCount;
    });
    expect(deleted).toEqual([1_000, 2_000, 2_500]);
  });

  it('shrinks while every record has a new key', () => {
    store = expiring();
    const perSlice = 1_000;
    const slicesOfLife = 10;
    const sizes: number[] = [];
    for (let slice = 0; slice < 6 * slicesOfLife; slice++) {
      store.advanceTo?.((slice * TTL_MS) / slicesOfLife);
      for (let van = 0; van < perSlice; van++) store.put(`van-${String(slice)}-${String(van)}`, { count: 1 });
      store.expire?.();
      store.commit();
      sizes.push(store.size);
    }
    expect(Math.max(...sizes)).toBeLessThanOrEqual(2 * perSlice * slicesOfLife);
  });

  it('refuses values that it has written without one', () => {
    store = expiring();
    store.restore(changelogRecord('van-1', '{"count":1}'));
    expect(() => store.get('van-1')).toThrow(expect.objectContaining({ code: 'CORRUPT_STATE' }));
  });

  it('needs one above 0', () => {
    const options = { changelogTopic: 'tallies', serde: jsonSerde<Tally>(), timeToLiveMs: 0 };
    expect(() => keyValueStore(options)).toThrow(expect.objectContaining({ code: 'INVALID_TOPOLOGY' }));
  });
});

const steps = fc.array(
  fc.oneof(
    fc.record({ type: fc.constant('put' as const), key: fc.constantFrom('a', 'b', 'c'), count: fc.nat() }),
    fc.record({ type: fc.constant('delete' as const), key: fc.constantFrom('a', 'b', 'c') }),
    fc.record({ type: fc.constantFrom('commit' as const, 'rollback' as const) }),
  ),
);

describe.each([
  ['the key-value store', {}],
  ['a key-value store with a time to live', { timeToLiveMs: TTL_MS }],
])('%s', (_what, more) => {
  const { createStore } = keyValueStore({ changelogTopic: 'counts', serde: jsonSerde<number>(), ...more });
  const contract = storeContract<KeyValueStore<number>>({
    createStore,
    put: (counts, key, count) => counts.put(key, count),
    delete: (counts, key) => counts.delete(key),
    get: (counts, key) => counts.get(key),
  });

  it.each(contract)('$rule', ({ check }) => check());
});

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
      const record = [key.subarray(keyStart, keyEnd), value && value.subarray(valueStart, valueEnd)] as const;
      to.restore(changelogRecord(...record));
    },
  });
}

function changelogRecord(key: string | Uint8Array, value: string | Uint8Array | null): StreamRecord {
  return StreamRecord.of({
    offset: 0,
    timestamp: 0,
    key: Buffer.from(key),
    value: value === null ? null : Buffer.from(value),
  });
}
