import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { claimFolder, dropData } from './bench-folder.js';

describe('The folder of the benchmark', () => {
  let parent = '';
  let folder = '';
  beforeEach(async () => {
    parent = await mkdtemp(join(tmpdir(), 'bench-folder-'));
    folder = join(parent, 'data');
  });
  afterEach(() => rm(parent, { recursive: true, force: true }));

  const fill = async (): Promise<void> => {
    await mkdir(join(folder, 'kafka'), { recursive: true });
    await mkdir(join(folder, 'logs'), { recursive: true });
    await writeFile(join(folder, 'kafka', 'log'), 'data');
  };

  it('is emptied for a new run', async () => {
    await claimFolder(folder, { keep: false });
    await fill();
    await claimFolder(folder, { keep: false });
    expect(await readdir(folder)).toEqual(['benchmark-data']);
  });

  it('is left unchanged for a run that resumes it', async () => {
    await claimFolder(folder, { keep: false });
    await fill();
    await claimFolder(folder, { keep: true });
    expect((await readdir(folder)).sort()).toEqual(['benchmark-data', 'kafka', 'logs']);
  });

  it('is never taken from another process', async () => {
    await fill();
    await expect(claimFolder(folder, { keep: false })).rejects.toThrow('name another --data-dir');
    expect((await readdir(folder)).sort()).toEqual(['kafka', 'logs']);
  });

  it('keeps its logs when the data goes', async () => {
    await claimFolder(folder, { keep: false });
    await fill();
    await dropData(folder);
    expect((await readdir(folder)).sort()).toEqual(['benchmark-data', 'logs']);
  });
});
