import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { openResumable, type ResumableOptions } from './resumable-file.js';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'waypost-export-'));
});
afterEach(() => rm(dir, { recursive: true }));

describe('A file that can be gone on with', () => {
  const options = (more: Partial<ResumableOptions> = {}): ResumableOptions => ({
    file: join(dir, 'out.csv'),
    result: join(dir, 'out.csv'),
    query: 'q',
    source: 'here',
    header: 'h\n',
    resume: true,
    now: () => 0,
    ...more,
  });
  const part = (partition: number, nextOffset: number) => ({ partition, nextOffset, records: 1 });

  it('loses and repeats nothing, wherever the process ended', async () => {
    let time = 0;
    const first = await openResumable(options({ now: () => (time += 1_000) }));
    await first.append('ä\n', part(0, 5));
    await first.append('b\n', part(1, 9));
    time = -Infinity; // From here on nothing is saved: the process is killed with a batch half counted.
    await first.append('c, with more than is written in its place\n', part(1, 12));
    const second = await openResumable(options());
    expect([...second.positions]).toEqual([
      [0, 5],
      [1, 9],
    ]);
    expect(second.records).toBe(2);
    await second.append('c\n', part(1, 12));
    await second.close();
    await second.forget();
    expect(await readFile(join(dir, 'out.csv'), 'utf8')).toBe('h\nä\nb\nc\n');
  });

  it.each([
    ['without --resume', false, 'something old and long'],
    ['when there is no file yet', true, null],
  ])('starts at the beginning %s', async (_, resume, old) => {
    if (old !== null) await writeFile(join(dir, 'out.csv'), old);
    const file = await openResumable(options({ resume }));
    expect(file.positions.size).toBe(0);
    await file.close();
    await file.forget();
    expect(await readFile(join(dir, 'out.csv'), 'utf8')).toBe('h\n');
  });

  it.each(['out.csv', 'out.parquet'])('never replaces %s, which is complete, with --resume', async (name) => {
    const result = join(dir, name);
    await writeFile(result, 'records of last month');
    await expect(openResumable(options({ result }))).rejects.toThrow('omit --resume to replace it');
    expect(await readFile(result, 'utf8')).toBe('records of last month');
  });

  it('refuses to resume with another query or a truncated file', async () => {
    const file = await openResumable(options());
    await file.close();
    await expect(openResumable(options({ query: 'other' }))).rejects.toThrow('other options');
    await writeFile(join(dir, 'out.csv'), '');
    await expect(openResumable(options())).rejects.toThrow('shorter');
  });

  it('refuses to resume with the positions of another stack, and names both', async () => {
    const file = await openResumable(options());
    await file.close();
    const refused = openResumable(options({ source: 'there' }));
    await expect(refused).rejects.toMatchObject({ exitCode: 2, message: expect.stringMatching(/here.*there/) });
  });
});
