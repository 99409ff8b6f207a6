import { AssertionError, deepStrictEqual, ok } from 'node:assert';
import { StreamRecord } from '../record.js';
import type { ChangeSink, StateStore } from '../state/state-store.js';

/** A kind of store, and how to use it as a map of whole numbers, which is what the contract does. */
export interface StoreUnderTest<Store> {
  /** As in its definition. */
  readonly createStore: () => StateStore & Store;
  put(store: Store, key: string, value: number): void;
  delete(store: Store, key: string): void;
  get(store: Store, key: string): number | undefined;
}

/** A scan with more steps than this has no end. */
const MAX_STEPS = 1_000;
const AROUND = Buffer.from('the bytes of other records');

/** A store with what the runtime does to it, and with what must then be true of it. */
export class CheckedStore<Store> {
  readonly store: StateStore & Store;
  private readonly usedKeys = new Set<string>();

  constructor(private readonly subject: StoreUnderTest<Store>) {
    this.store = subject.createStore();
  }

  put(key: string, value: number): this {
    this.usedKeys.add(key);
    this.subject.put(this.store, key, value);
    return this;
  }

  delete(key: string): this {
    this.subject.delete(this.store, key);
    return this;
  }

  get(key: string): number | undefined {
    return this.subject.get(this.store, key);
  }

  commit(): this {
    this.store.commit();
    return this;
  }

  rollback(): this {
    this.store.rollback();
    return this;
  }

  /** Commits the transaction of another store, and restores what that one has written to its changelog. */
  take(other: CheckedStore<Store>): this {
    const changes = other.written();
    other.commit();
    return this.restore(changes);
  }

  restore(changes: readonly StreamRecord[]): this {
    for (const change of changes) lend(change, (record) => this.store.restore(record));
    return this;
  }

  load(entries: readonly StreamRecord[]): this {
    for (const entry of entries) lend(entry, (record) => this.store.load(record));
    return this;
  }

  /** @param between is called between two steps */
  scan(limit: number, between: () => void = () => undefined): StreamRecord[] {
    const scan = this.store.scan();
    const found: StreamRecord[] = [];
    for (let step = 0; step < MAX_STEPS; step++) {
      const { records: given, result: goesOn } = collect((sink) => scan.next(limit, sink));
      ok(given.length <= limit, `A scan gave ${String(given.length)} entries, and was asked for ${String(limit)}.`);
      found.push(...given);
      if (!goesOn) return found;
      between();
    }
    throw new AssertionError({ message: `A scan has no end after ${String(MAX_STEPS)} steps.` });
  }

  holds(expected: Readonly<Record<string, number>>): this {
    const found: Record<string, number> = {};
    for (const key of new Set([...this.usedKeys, ...Object.keys(expected)])) {
      const value = this.get(key);
      if (value !== undefined) found[key] = value;
    }
    deepStrictEqual({ size: this.store.size, found }, { size: Object.keys(expected).length, found: expected });
    return this;
  }

  /** undefined: the key was deleted. */
  changes(expected: Readonly<Record<string, number | undefined>>): this {
    const changes = this.written();
    const keys = new Set(changes.map(({ key }) => key?.toString('hex')));
    const deletions = changes.filter(({ value }) => value === null);
    const left = Object.entries(expected).filter((entry): entry is [string, number] => entry[1] !== undefined);
    const count = Object.keys(expected).length;
    deepStrictEqual(
      { changeCount: this.store.changeCount, records: changes.length, keys: keys.size, deletions: deletions.length },
      { changeCount: count, records: count, keys: count, deletions: count - left.length },
    );
    new CheckedStore(this.subject).restore(changes).holds(Object.fromEntries(left));
    return this;
  }

  private written(): StreamRecord[] {
    return collect((sink) => this.store.writeChanges(sink)).records;
  }
}

/** Copies what a store gives: its bytes are valid only during the call. */
function collect<Result>(give: (sink: ChangeSink) => Result): { records: StreamRecord[]; result: Result } {
  const records: StreamRecord[] = [];
  const result = give({
    appendRanges: (key, keyStart, keyEnd, value, valueStart, valueEnd) => {
      const parts = {
        key: Buffer.from(key.subarray(keyStart, keyEnd)),
        value: value && Buffer.from(value.subarray(valueStart, valueEnd)),
      };
      records.push(StreamRecord.of({ offset: 0, timestamp: 0, ...parts }));
    },
  });
  return { records, result };
}

/** As the runtime lends a record: amid the bytes of a fetch, which are overwritten by the next one. */
function lend({ key, value }: StreamRecord, use: (record: StreamRecord) => void): void {
  const bytes = Buffer.concat([AROUND, key ?? Buffer.alloc(0), value ?? Buffer.alloc(0), AROUND]);
  const keyEnd = AROUND.length + (key?.length ?? 0);
  const valueEnd = keyEnd + (value?.length ?? 0);
  use(new StreamRecord(0, 0, bytes, AROUND.length, keyEnd, value ? keyEnd : -1, valueEnd));
  bytes.fill(0xff);
}
