import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { fileSizeOf, newestEventTime, trackLines } from './track-file.js';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'track-'));
});
afterEach(() => rm(dir, { recursive: true }));

async function write(name: string, text: string): Promise<string> {
  const path = join(dir, name);
  await writeFile(path, name.endsWith('.gz') ? gzipSync(text) : text);
  return path;
}

async function rowsOf(path: string): Promise<unknown[]> {
  const rows: unknown[] = [];
  for await (const { number, row } of trackLines(path)) rows.push([number, row['n']]);
  return rows;
}

describe('A track file', () => {
  it.each(['a.ndjson', 'a.ndjson.gz'])('gives its rows in their order, with their line numbers (%s)', async (name) => {
    expect(await rowsOf(await write(name, '{"n":1}\n\n{"n":"ü"}\r\n{"n":3}'))).toEqual([
      [1, 1],
      [3, 'ü'],
      [4, 3],
    ]);
  });

  it('gives every row of a file much larger than a read', async () => {
    const lines = Array.from({ length: 20_000 }, (_, index) => JSON.stringify({ n: index, text: 'é'.repeat(20) }));
    expect(await rowsOf(await write('big.ndjson.gz', lines.join('\n')))).toHaveLength(20_000);
  });

  it('names the line that is not a JSON object', async () => {
    await expect(rowsOf(await write('bad.ndjson', '{"n":1}\nnope\n'))).rejects.toThrow(
      /^Line 2 of .*bad\.ndjson is not a JSON object\.$/,
    );
  });

  it('says that a packed file is cut short, instead of ending early', async () => {
    const path = join(dir, 'cut.ndjson.gz');
    await writeFile(path, gzipSync(`${JSON.stringify({ n: 'x'.repeat(5_000) })}\n`.repeat(50)).subarray(0, -20));
    await expect(rowsOf(path)).rejects.toThrow(/cannot be read after line \d+: .*unexpected end of file/);
  });

  it('says that a file is not there', async () => {
    await expect(fileSizeOf(join(dir, 'none.ndjson'))).rejects.toThrow(/cannot be read: .*ENOENT/);
    await expect(rowsOf(join(dir, 'none.ndjson'))).rejects.toThrow(/cannot be read after line 0: .*ENOENT/);
  });

  it('has its newest event time in any order of pings', async () => {
    const rows = ['2020-01-02T00:00:00Z', '2020-01-03T00:00:00Z', '2020-01-01T00:00:00Z'];
    const path = await write('t.ndjson', rows.map((eventTime) => JSON.stringify({ eventTime })).join('\n'));
    expect(await newestEventTime(path)).toBe(Date.UTC(2020, 0, 3));
    expect(await newestEventTime(await write('empty.ndjson', ''))).toBeNull();
  });
});
