import { existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { until } from '../../test/support/until.js';
import { ensureDownloaded } from './download-cache.js';
import { takeLock } from './exclusive-lock.js';
import { identityOf } from './processes/process-identity.js';
import { silentReporter, type StackReporter } from './stack-reporter.js';

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

  it('ends Maven when it is aborted, and leaves nothing in the cache', async () => {
    const pidFile = join(folder, 'pid');
    const cache = join(folder, 'cache');
    await mkdir(join(folder, 'bin'));
    await writeFile(
      join(folder, 'bin', 'mvn'),
      `#!/bin/sh\necho $$ > ${pidFile}.new && mv ${pidFile}.new ${pidFile}\nexec sleep 600\n`,
      { mode: 0o755 },
    );
    const { PATH } = process.env;
    process.env['PATH'] = [join(folder, 'bin'), PATH].join(delimiter);
    try {
      const stopping = new AbortController();
      const outcome = ensureDownloaded(cache, download, silentReporter, stopping.signal).catch(
        (reason: unknown) => reason,
      );
      await until(() => existsSync(pidFile));
      stopping.abort('stop');
      expect(await outcome).toBe('stop');
      expect(identityOf(Number(readFileSync(pidFile, 'utf8')))).toBeNull();
      expect(await readdir(cache)).toEqual([]);
    } finally {
      process.env['PATH'] = PATH;
    }
  });

  it('no longer waits for the download of another process when it is aborted', async () => {
    const lock = await takeLock(join(folder, 'kafka-1.lock'));
    const stopping = new AbortController();
    const outcome = ensureDownloaded(folder, download, silentReporter, stopping.signal).catch(
      (reason: unknown) => reason,
    );
    stopping.abort('stop');
    expect(await outcome).toBe('stop');
    if (lock.type === 'held') await lock.release();
  });

  it('downloads nothing that is there', async () => {
    await mkdir(join(folder, 'kafka-1'));
    expect(await ensureDownloaded(folder, download, reporter)).toBe(join(folder, 'kafka-1'));
  });
});
