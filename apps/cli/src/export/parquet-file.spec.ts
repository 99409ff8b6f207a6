import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet';
import { columnsOf } from './columns.js';
import { ndjsonFormat } from './export-format.js';
import { writeParquet } from './parquet-file.js';
import { broken, empty, full, schema, TIME } from './testing/sample-records.js';

const columns = columnsOf(schema);

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'waypost-export-'));
});
afterEach(() => rm(dir, { recursive: true }));

describe('Parquet', () => {
  it('gives every value back in its own type, read by the public reader', async () => {
    const from = join(dir, 'spool.ndjson');
    const to = join(dir, 'out.parquet');
    await writeFile(from, ndjsonFormat.textOf([full, empty, broken]));
    await writeParquet({ from, to, columns }, () => undefined);
    const rows = await parquetReadObjects({ file: await asyncBufferFromFile(to), utf8: false });
    expect(rows).toHaveLength(3);
    expect(rows[0]).toMatchObject({
      record_offset: 7n,
      record_time: new Date(TIME),
      deviceId: 'bus "7",\nnorth',
      speed: 0,
      ignition: false,
      count: 9_007_199_254_740_991n,
      tags: { a: '1' },
      'place.lat': 48.5,
      raw: new Uint8Array([1, 2, 255]),
    });
    expect(rows[1]).toMatchObject({ deviceId: '', speed: null, count: null, ignition: null, 'place.lat': null });
    expect(rows[2]).toMatchObject({ deviceId: null, record_problem: 'malformed: cut short' });
  });

  it('has texts with any line separator (Node 24 takes more of them for the end of a line)', async () => {
    const from = join(dir, 'spool.ndjson');
    const to = join(dir, 'out.parquet');
    const deviceId = 'a\u2028b\u2029c\u0085d';
    await writeFile(from, ndjsonFormat.textOf([{ ...full, value: { ...(full.value as object), deviceId } }, empty]));
    await writeParquet({ from, to, columns }, () => undefined);
    const rows = await parquetReadObjects({ file: await asyncBufferFromFile(to) });
    expect(rows).toMatchObject([{ deviceId }, { deviceId: '' }]);
  });

  it('has every row of more than one row group, and its name only when it is complete', async () => {
    const from = join(dir, 'spool.ndjson');
    const to = join(dir, 'out.parquet');
    const count = 20_001;
    const records = Array.from({ length: count }, (_, offset) => ({ ...empty, offset }));
    await writeFile(from, ndjsonFormat.textOf(records));
    const seenAt: number[] = [];
    await writeParquet({ from, to, columns }, (rows) => {
      if (existsSync(to)) seenAt.push(rows);
    });
    const rows = await parquetReadObjects({ file: await asyncBufferFromFile(to), columns: ['record_offset'] });
    expect(rows.map(({ record_offset: offset }) => Number(offset))).toEqual(records.map(({ offset }) => offset));
    expect(seenAt).toEqual([]);
  });

  it('is a file with columns even without records', async () => {
    const from = join(dir, 'spool.ndjson');
    const to = join(dir, 'out.parquet');
    await writeFile(from, '');
    await writeParquet({ from, to, columns }, () => undefined);
    expect(await parquetReadObjects({ file: await asyncBufferFromFile(to) })).toEqual([]);
  });
});
