import { beforeEach, describe, expect, it } from '@jest/globals';
import type { OverflowLayout } from './entry-table.js';
import { OverflowTable } from './overflow-table.js';

type Value = readonly string[];

/** The value is its own overflow, unless it is empty. */
const layout: OverflowLayout<Value, object> = {
  of: (value) => (value.length === 0 ? undefined : value),
  isPresent: () => true,
  toBytes: (overflow) => Buffer.from(JSON.stringify(overflow)),
  fromBytes: (bytes) => JSON.parse(Buffer.from(bytes).toString()) as object,
};

/** On both sides of where one chunk ends and the next one begins, and far away. */
const ENTRIES = [0, 1, 1_023, 1_024, 1_025, 2_048, 100_000];
function valueOf(entry: number): Value {
  return [`overflow of ${String(entry)}`];
}

let table: OverflowTable<Value>;
function held(): unknown[] {
  return ENTRIES.map((entry) => table.get(entry));
}

beforeEach(() => {
  table = new OverflowTable(layout);
  for (const entry of ENTRIES) table.settle(entry, valueOf(entry));
});

describe('the parts of values that have no fixed width', () => {
  it('belong to one entry each, and other entries have none', () => {
    expect(held()).toEqual(ENTRIES.map(valueOf));
    expect([2, 1_022, 1_026, 3_072, 99_999, 5_000_000].map((entry) => table.get(entry))).toEqual(
      Array(6).fill(undefined),
    );
  });

  it('are restored after a failed transaction, including those it added or removed', () => {
    table.put(1_024, ['one']);
    table.put(1_024, ['another']);
    table.put(1_023, []);
    table.put(7, ['new']);
    expect([1_024, 1_023, 7].map((entry) => table.get(entry))).toEqual([['another'], undefined, ['new']]);
    table.rollback();
    expect(held()).toEqual(ENTRIES.map(valueOf));
    expect(table.get(7)).toBeUndefined();
  });

  it('stay as a transaction has left them once it is committed', () => {
    table.put(1_024, ['another']);
    table.commit();
    table.rollback();
    expect(table.get(1_024)).toEqual(['another']);
  });

  it('cannot be changed by their reader, so that nothing survives an aborted transaction', () => {
    table.put(1, ['new']);
    table.load(2, Buffer.from('["loaded"]'));
    for (const entry of [0, 1, 2]) expect(() => (table.get(entry) as string[]).push('changed')).toThrow(TypeError);
    table.rollback();
    expect(table.get(0)).toEqual(valueOf(0));
  });

  it("are removed with their entry, and never with a neighbor's", () => {
    table.remove(1_024);
    expect(held()).toEqual(ENTRIES.map((entry) => (entry === 1_024 ? undefined : valueOf(entry))));
  });

  it('are all gone once the store is cleared', () => {
    table.clear();
    expect(held()).toEqual(ENTRIES.map(() => undefined));
  });
});
