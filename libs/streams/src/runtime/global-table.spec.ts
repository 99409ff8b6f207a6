import { describe, expect, it, jest } from '@jest/globals';
import { flushed, until } from '../../../../test/support/until.js';
import { silentLogger } from '../logger.js';
import type { RecordBatch } from '../record.js';
import { createMemoryBackend } from '../testing/memory-backend.js';
import { createGlobalTable, type GlobalTable } from './global-table.js';

function tableOn(settings: Readonly<Record<string, string>> | null, partitions: number | null = 1): GlobalTable {
  const broker = createMemoryBackend({ topics: partitions === null ? {} : { table: partitions }, now: () => 0 });
  const topicSettings = () => Promise.resolve(settings === null ? null : new Map(Object.entries(settings)));
  return createGlobalTable({
    backend: Object.assign(Object.create(broker) as typeof broker, { topicSettings }),
    topic: 'table',
    logger: silentLogger,
    onRecord: () => undefined,
    onFatal: (error) => {
      throw error;
    },
  });
}

describe('a global table at its start', () => {
  it.each([
    ['does not exist', null, 'TOPIC_MISSING'],
    ['has 3 partitions', 3, 'PARTITIONS_DIFFER'],
  ])('refuses a topic that %s', async (what, partitions, code) => {
    const table = tableOn(null, partitions);
    await expect(table.start()).rejects.toMatchObject({
      code,
      message: `The topic table ${what}: create it with one partition, which every process reads.`,
    });
    await table.stop();
  });

  it.each(['delete', 'compact,delete'])('refuses a topic whose rows expire: cleanup.policy=%s', async (policy) => {
    const table = tableOn({ 'cleanup.policy': policy });
    await expect(table.start()).rejects.toMatchObject({
      code: 'TOPIC_SETTINGS',
      message: `The topic table, a table that every process reads, has cleanup.policy=${policy}: set it to compact, or state that is older than the retention is lost.`,
    });
    await table.stop();
  });

  it.each([
    [
      'a compacted topic, also with the append time of the broker',
      { 'cleanup.policy': 'compact', 'message.timestamp.type': 'LogAppendTime' },
    ],
    ['a topic whose settings it may not read', null],
  ])('follows %s', async (_, settings) => {
    const table = tableOn(settings);
    await table.start();
    await expect(table.caughtUp()).resolves.toBeUndefined();
    await table.stop();
  });
});

describe('a global table whose records unpack to more than memory holds at a time', () => {
  it('takes each slice before it unpacks the next', async () => {
    const backend = createMemoryBackend({ topics: { table: 1 }, now: () => 0 });
    const partition = { topic: 'table', partition: 0 };
    for (const key of ['a', 'b', 'c']) backend.append(partition, { key: Buffer.from(key), value: Buffer.from(key) });
    const steps: string[] = [];
    const unpacked = (batch: RecordBatch): RecordBatch => ({
      ...batch,
      get records(): never {
        throw new Error('All of them are in memory.');
      },
      *slices() {
        for (const record of batch.records) {
          steps.push('unpack');
          yield [record];
        }
      },
    });
    const open = backend.fetcher.bind(backend);
    backend.fetcher = () => {
      const fetcher = open();
      return {
        close: () => fetcher.close(),
        open: (input, position) => {
          const feed = fetcher.open(input, position);
          return { close: () => feed.close(), next: async () => unpacked(await feed.next()) };
        },
      };
    };
    const table = createGlobalTable({
      backend,
      topic: 'table',
      logger: silentLogger,
      prepare: (records) => Promise.resolve(void steps.push(`prepare ${String(records.length)}`)),
      onRecord: (key) => void steps.push(key.toString()),
      onFatal: (error) => {
        throw error;
      },
    });
    await table.start();
    expect(steps).toEqual(['a', 'b', 'c'].flatMap((key) => ['unpack', 'prepare 1', key]));
    await table.stop();
  });
});

describe('a global table whose records wait for something', () => {
  async function waiting() {
    const backend = createMemoryBackend({ topics: { table: 1 }, now: () => 0 });
    const steps: string[] = [];
    const answers: (() => void)[] = [];
    const table = createGlobalTable({
      backend,
      topic: 'table',
      logger: silentLogger,
      prepare: () => new Promise((resolve) => answers.push(resolve)),
      onRecord: (key) => void steps.push(key.toString()),
      onFatal: (error) => {
        throw error;
      },
    });
    await table.start();
    const append = (key: string) =>
      backend.append({ topic: 'table', partition: 0 }, { key: Buffer.from(key), value: Buffer.from(key) });
    append('a');
    await until(() => answers.length === 1);
    return { backend, table, steps, append, answer: () => answers.pop()?.() };
  }

  it('is caught up when they are applied, not when they are read', async () => {
    const { table, steps, answer } = await waiting();
    const caughtUp = table.caughtUp().then(() => steps.push('caught up'));
    await flushed();
    answer();
    await caughtUp;
    expect(steps).toEqual(['a', 'caught up']);
    await table.stop();
  });

  it('ends every wait when it is stopped', async () => {
    const { table, answer } = await waiting();
    const caughtUp = table.caughtUp().catch((error: unknown) => error);
    await flushed();
    await table.stop();
    expect(await caughtUp).toMatchObject({ message: 'The table of table is stopped.' });
    answer();
  });

  it('is no stall any more once they are applied (R-45)', async () => {
    const begun: boolean[] = [];
    const { backend, table, append, answer } = await waiting();
    backend.stalls.begin = () => {
      const index = begun.push(true) - 1;
      return () => void (begun[index] = false);
    };
    const first = table.caughtUp();
    await until(() => begun.length === 1);
    append('b');
    const second = table.caughtUp();
    answer();
    await first;
    await until(() => begun.length === 2);
    expect(begun).toEqual([false, true]);
    answer();
    await second;
    expect(begun).toEqual([false, false]);
    await table.stop();
  });
});

describe('a global table whose topic gets more partitions', () => {
  it('ends the process with the fix within a minute, because rows may be in them', async () => {
    jest.useFakeTimers();
    const backend = createMemoryBackend({ topics: { table: 1 }, now: () => 0 });
    const fatal: Error[] = [];
    const onFatal = (error: Error): void => void fatal.push(error);
    const table = createGlobalTable({
      backend,
      topic: 'table',
      logger: silentLogger,
      onRecord: () => undefined,
      onFatal,
    });
    await table.start();
    await jest.advanceTimersByTimeAsync(60_000);
    expect(fatal).toEqual([]);
    backend.partitionCount = () => Promise.resolve(2);
    await jest.advanceTimersByTimeAsync(60_000);
    const message = expect.stringContaining('The topic table has 2 partitions: create it with one');
    expect(fatal).toEqual([expect.objectContaining({ code: 'PARTITIONS_DIFFER', message })]);
    await expect(table.caughtUp()).rejects.toMatchObject({ code: 'PARTITIONS_DIFFER' });
    await table.stop();
    jest.useRealTimers();
  });
});
