import { strictEqual } from 'node:assert';
import { CheckedStore, type StoreUnderTest } from './checked-store.js';

/** `check` throws where the store does otherwise. */
export interface StoreRule {
  readonly rule: string;
  check(): void;
}

type NewStore = () => CheckedStore<unknown>;

/** What the runtime expects of every store, a test for each rule, for any test runner. */
export function storeContract<Store>(subject: StoreUnderTest<Store>): readonly StoreRule[] {
  const newStore = (): CheckedStore<Store> => new CheckedStore(subject);
  return [...transactionRules(newStore), mapRule(newStore), ...changelogRules(newStore), ...checkpointRules(newStore)];
}

function transactionRules(newStore: NewStore): StoreRule[] {
  return [
    rule('shows its processor what the open transaction has changed', () => {
      const store = newStore().put('a', 1).put('b', 2).commit();
      store.put('a', 3).delete('b').put('c', 4).holds({ a: 3, c: 4 });
      store.commit().holds({ a: 3, c: 4 });
    }),
    rule('is after a rollback as the last commit left it', () => {
      const store = newStore().put('a', 1).put('b', 2).commit();
      store.put('a', 3).put('a', 4).delete('b').put('c', 5).delete('c').put('d', 6).rollback();
      store.holds({ a: 1, b: 2 });
      store.put('b', 7).commit().rollback().holds({ a: 1, b: 7 });
    }),
    rule('has one change for each key that the transaction touched, with what is left of it', () => {
      const store = newStore().put('a', 1).put('b', 2).put('c', 3).commit();
      store.put('a', 4).put('a', 5).delete('b').put('d', 6).delete('c').put('c', 7);
      store.changes({ a: 5, b: undefined, c: 7, d: 6 });
      store.commit().changes({});
      store.put('a', 8).rollback().changes({});
    }),
    rule('shares nothing with others of its definition', () => {
      const [one, other] = [newStore().put('a', 1).commit(), newStore()];
      other.put('b', 2).holds({ b: 2 });
      one.put('c', 3).holds({ a: 1, c: 3 });
      other.rollback().holds({});
    }),
  ];
}

function mapRule(newStore: NewStore): StoreRule {
  return rule('is a map, also after thousands of changes, commits and rollbacks', () => {
    const [store, replica] = [newStore(), newStore()];
    let committed = new Map<string, number>();
    let current = new Map<string, number>();
    for (const { step, key, value } of steps(3_000)) {
      if (step === 'put') {
        store.put(key, value);
        current.set(key, value);
      } else if (step === 'delete') {
        store.delete(key);
        current.delete(key);
      } else if (step === 'commit') {
        replica.take(store);
        committed = new Map(current);
      } else {
        store.rollback();
        current = new Map(committed);
      }
      store.holds(Object.fromEntries(current));
    }
    replica.holds(Object.fromEntries(committed));
  });
}

function changelogRules(newStore: NewStore): StoreRule[] {
  return [
    rule('is made again by its changelog, of which it keeps no memory', () => {
      const store = newStore().put('a', 1).put('b', 2).put('c', 3);
      const restored = newStore().take(store);
      restored.take(store.put('b', 4).delete('c').put('d', 5)).holds({ a: 1, b: 4, d: 5 });
    }),
    rule('takes what it restores for committed', () => {
      const restored = newStore().take(newStore().put('a', 1));
      restored.changes({}).rollback().holds({ a: 1 });
      restored.put('a', 2).rollback().holds({ a: 1 });
    }),
    rule('stays as it is when it learns how many entries to expect', () => {
      const store = newStore().put('a', 1).commit();
      for (const entries of [1_000, 0]) store.store.expect?.(entries);
      store.take(newStore().put('b', 2)).holds({ a: 1, b: 2 });
    }),
    rule('forgets everything when it is cleared, also what is not committed', () => {
      const store = newStore().put('a', 1).commit().put('a', 2).put('b', 3);
      store.store.clear();
      store.changes({}).holds({}).rollback().holds({});
      store.put('a', 4).commit().holds({ a: 4 });
    }),
  ];
}

function checkpointRules(newStore: NewStore): StoreRule[] {
  return [
    rule('is made again by its scan, which gives at most as many entries as it is asked for', () => {
      const store = newStore().put('a', 1).put('b', 2).put('c', 3).put('d', 4).put('e', 5).commit();
      const loaded = newStore();
      strictEqual(loaded.store.checkpointFormat, store.store.checkpointFormat, 'Two stores have different formats.');
      loaded.load(store.scan(2)).changes({});
      loaded.rollback().holds({ a: 1, b: 2, c: 3, d: 4, e: 5 });
    }),
    rule('scans each entry that stays once, whatever is committed between two steps', () => {
      const store = newStore();
      for (let n = 0; n < 10; n++) store.put(`goes ${String(n)}`, n).put(`stays ${String(n)}`, n);
      let transactions = 0;
      const scanned = store.commit().scan(1, () => {
        const n = transactions++;
        // A scan may give new entries too, and would have no end if each step made one.
        if (n < 10) store.delete(`goes ${String(n)}`).put(`new ${String(n)}`, n);
        store.commit();
        store.put('stays 3', 11).delete('stays 4').rollback();
      });
      const loaded = newStore().load(scanned);
      strictEqual(loaded.store.size, scanned.length, 'An entry was scanned twice.');
      for (let n = 0; n < 10; n++) strictEqual(loaded.get(`stays ${String(n)}`), n);
    }),
  ];
}

function rule(text: string, check: () => void): StoreRule {
  return { rule: text, check };
}

interface Step {
  readonly step: 'put' | 'delete' | 'commit' | 'rollback';
  readonly key: string;
  readonly value: number;
}

const KEYS = Array.from({ length: 60 }, (_, index) => `${'k'.repeat(index % 9)} ${String(index)}`);

/** Chosen by the generator of Lehmer: the same steps in each run. */
function* steps(count: number): Generator<Step> {
  let state = 42;
  const below = (limit: number): number => (state = (state * 48_271) % 0x7fff_ffff) % limit;
  for (let value = 0; value < count; value++) {
    const chance = below(100);
    const step = chance < 60 ? 'put' : chance < 88 ? 'delete' : chance < 95 ? 'commit' : 'rollback';
    yield { step, key: KEYS[below(KEYS.length)] as string, value };
  }
}
