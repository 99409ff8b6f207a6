import { describe, expect, it } from '@jest/globals';
import type { StreamRecord } from '../record.js';
import { type KeyValueStore, keyValueStore } from '../state/key-value-store.js';
import { type ChangeSink, type EntryScan, jsonSerde, type StateStore } from '../state/state-store.js';
import { storeContract, type StoreRule } from './store-contract.js';

type Numbers = KeyValueStore<number> & StateStore;

const { createStore } = keyValueStore({ changelogTopic: 'numbers', serde: jsonSerde<number>() });

function contractOf(create: () => Numbers): readonly StoreRule[] {
  return storeContract<KeyValueStore<number>>({
    createStore: create,
    put: (store, key, value) => store.put(key, value),
    delete: (store, key) => store.delete(key),
    get: (store, key) => store.get(key),
  });
}

function brokenBy(create: () => Numbers): string[] {
  const isBroken = ({ check }: StoreRule): boolean => {
    try {
      check();
      return false;
    } catch {
      return true;
    }
  };
  return contractOf(create)
    .filter(isBroken)
    .map(({ rule }) => rule);
}

/** Key-value stores that do something in another way; `change` gets the store as it would be. */
function changed(change: (store: Numbers) => Partial<Numbers>): () => Numbers {
  return () => {
    const original = createStore();
    const own = Object.entries(change(original)).map(([name, value]) => [name, { value }] as const);
    return Object.create(original, Object.fromEntries(own)) as Numbers;
  };
}

const onlyOne = createStore();
let formats = 0;

/** Each does wrong what one rule is about. */
const BROKEN: readonly (readonly [what: string, create: () => Numbers, rule: string])[] = [
  [
    'hides what is not committed',
    changed((store) => ({ get: (key) => store.readOnly().get(key) })),
    'shows its processor what the open transaction has changed',
  ],
  [
    'rolls nothing back',
    changed(() => ({ rollback: () => undefined })),
    'is after a rollback as the last commit left it',
  ],
  [
    'logs each change twice',
    changed((store) => ({ writeChanges: (into) => [1, 2].forEach(() => store.writeChanges(into)) })),
    'has one change for each key that the transaction touched, with what is left of it',
  ],
  ['is the same for everyone', () => onlyOne, 'shares nothing with others of its definition'],
  [
    'has room for 30 entries',
    changed((store) => ({ put: (...entry) => (store.size < 30 ? store.put(...entry) : undefined) })),
    'is a map, also after thousands of changes, commits and rollbacks',
  ],
  [
    'keeps the memory of records',
    changed(keepingRecords),
    'is made again by its changelog, of which it keeps no memory',
  ],
  [
    'restores by changes of a transaction',
    changed((store) => ({ restore: ({ key, value }) => store.put(String(key), Number(value)) })),
    'takes what it restores for committed',
  ],
  [
    'makes room by emptying itself',
    changed((store) => ({ expect: () => store.clear() })),
    'stays as it is when it learns how many entries to expect',
  ],
  [
    'keeps what is committed when it is cleared',
    changed((store) => ({ clear: () => store.rollback() })),
    'forgets everything when it is cleared, also what is not committed',
  ],
  [
    'has a format for each checkpoint',
    changed(() => ({ checkpointFormat: String(formats++) })),
    'is made again by its scan, which gives at most as many entries as it is asked for',
  ],
  [
    'scans all entries at once',
    changed((store) => ({ scan: () => ({ next: (_limit, sink) => store.scan().next(1_000, sink) }) })),
    'is made again by its scan, which gives at most as many entries as it is asked for',
  ],
  [
    'counts how far a scan has come',
    changed(countingScans),
    'scans each entry that stays once, whatever is committed between two steps',
  ],
];

function keepingRecords(store: Numbers): Partial<Numbers> {
  const kept = new Map<string, StreamRecord>();
  return {
    restore: (record) => {
      kept.set(String(record.key), record);
      store.restore(record);
    },
    get: (key) => (kept.has(key) ? Number(kept.get(key)?.value) : store.get(key)),
  };
}

/** An entry that is deleted moves all after it. */
function countingScans(store: Numbers): Partial<Numbers> {
  const scan = (): EntryScan => {
    let given = 0;
    return {
      next: (limit, sink) => {
        let at = 0;
        const appendRanges: ChangeSink['appendRanges'] = (...entry) => {
          if (at >= given && at < given + limit) sink.appendRanges(...entry);
          at++;
        };
        store.scan().next(1_000, { appendRanges });
        given += limit;
        return given < at;
      },
    };
  };
  return { scan };
}

describe('the contract of stores', () => {
  it.each(BROKEN)('is broken by a store that %s', (_what, create, rule) => {
    expect(brokenBy(create)).toContain(rule);
  });

  it('has no rule that none of these stores breaks', () => {
    expect(new Set(BROKEN.map(([, , rule]) => rule))).toEqual(new Set(contractOf(createStore).map(({ rule }) => rule)));
  });

  it('is kept by a store that is changed in nothing', () => {
    expect(brokenBy(changed(() => ({})))).toEqual([]);
  });
});
