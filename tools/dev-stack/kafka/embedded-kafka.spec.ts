import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type DataDir, openDataDir } from '../data-dir/data-dir.js';
import type { PartContext } from '../embedded-part.js';
import { silentReporter } from '../stack-reporter.js';
import { kafkaDownload, startEmbeddedKafka } from './embedded-kafka.js';

let folder: string;
let opened: DataDir | undefined;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'waypost-kafka-'));
  await mkdir(join(folder, kafkaDownload().folder));
});
afterEach(async () => {
  await opened?.release();
  await rm(folder, { recursive: true, force: true });
});

/** No process can be started in it. */
async function contextIn(name: string, signal?: AbortSignal): Promise<PartContext> {
  opened = await openDataDir(join(folder, name));
  return {
    dataDir: opened,
    cacheDir: folder,
    java: join(folder, 'no-java'),
    guardian: {
      mark: 'A=b',
      watch: () => undefined,
      forget: () => undefined,
      pid: () => 0,
      close: () => Promise.resolve(),
    },
    reporter: silentReporter,
    environment: {},
    started: [],
    onReplaced: () => undefined,
    signal,
  };
}

describe('startEmbeddedKafka', () => {
  it('starts nothing once its stack is being stopped', async () => {
    const context = await contextIn('data', AbortSignal.abort('stop'));
    await expect(startEmbeddedKafka(context)).rejects.toBe('stop');
    expect(context.started).toEqual([]);
  });

  it('refuses a data directory with a comma, which Kafka would take for two', async () => {
    const context = await contextIn('a,b');
    await expect(startEmbeddedKafka(context)).rejects.toMatchObject({
      code: 'data_dir_unusable',
      message: `Kafka takes no comma in ${context.dataDir.path}: use another --data-dir.`,
    });
  });
});
