import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ensureDownloaded } from './download-cache.js';
import type { StackReporter } from './stack-reporter.js';

const download = { folder: 'kafka-1', title: 'Kafka 1', mavenArguments: () => [] };
const reporter = {
  during: () => Promise.reject(new Error('It would download.')),
} as unknown as StackReporter;
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'waypost-cache-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe('ensureDownloaded', () => {
  it('names the variable for another folder where downloads cannot be kept', async () => {
    // Fails for a superuser too, unlike a folder that is read-only.
    await writeFile(join(folder, 'file'), '');
    await expect(ensureDownloaded(join(folder, 'file', 'cache'), download, reporter)).rejects.toMatchObject({
      name: 'StackError',
      code: 'cache_dir_unusable',
      message: expect.stringContaining('set WAYPOST_CACHE_DIR'),
    });
  });

  it('downloads nothing that is there', async () => {
    await mkdir(join(folder, 'kafka-1'));
    expect(await ensureDownloaded(folder, download, reporter)).toBe(join(folder, 'kafka-1'));
  });
});
