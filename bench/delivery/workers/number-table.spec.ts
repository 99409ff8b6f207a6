import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { NumberTable } from './number-table.js';

describe('NumberTable', () => {
  let folder = '';
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'number-table-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('keeps every row and later change while it grows', () => {
    const table = NumberTable.empty(2);
    for (let row = 0; row < 10_000; row += 1) table.append(row, -row);
    table.set(7, 1, 0.5);

    expect(table.rows).toBe(10_000);
    expect([table.get(7, 0), table.get(7, 1)]).toEqual([7, 0.5]);
    expect([table.get(9_999, 0), table.get(9_999, 1)]).toEqual([9_999, -9_999]);
  });

  it('is the same after it was saved and loaded', () => {
    const table = NumberTable.empty(3);
    for (let row = 0; row < 5_000; row += 1) table.append(row, NaN, 1.7e12 + row);
    table.save(join(folder, 'table'));
    const loaded = NumberTable.load(join(folder, 'table'), 3);

    expect(loaded.rows).toBe(5_000);
    expect([loaded.get(4_999, 0), loaded.get(4_999, 1), loaded.get(4_999, 2)]).toEqual([4_999, NaN, 1.7e12 + 4_999]);
  });

  it('begins again after it was cleared', () => {
    const table = NumberTable.empty(1);
    table.append(1);
    table.clear();
    expect(table.append(2)).toBe(0);
    expect([table.rows, table.get(0, 0)]).toEqual([1, 2]);
  });
});
