import { describe, expect, it } from '@jest/globals';
import { readToEnd } from './log-reader.js';
import type { StreamRecord, TopicPartition } from '../record.js';
import type { StreamsBackend } from './backend.js';
import type { BackendUnderTest } from './backend.contract.js';

const outgoing = (partition: TopicPartition, ...values: string[]) =>
  values.map((value) => ({ ...partition, key: Buffer.from('key'), value: Buffer.from(value) }));

const readAll = async (backend: StreamsBackend, partition: TopicPartition): Promise<readonly StreamRecord[]> => {
  const fetcher = backend.fetcher();
  const records: StreamRecord[] = [];
  await readToEnd(backend, fetcher, partition, 0, (batch) => void records.push(...batch.records));
  await fetcher.close();
  return records;
};

const valuesOf = async (backend: StreamsBackend, partition: TopicPartition): Promise<(string | undefined)[]> =>
  (await readAll(backend, partition)).map(({ value }) => value?.toString());

/** What every backend promises of writers without transactions. */
export const describeFencedWriter = (name: string, subject: () => BackendUnderTest): void => {
  const topicWith = async (partitions: number): Promise<TopicPartition[]> => {
    const topic = await subject().createTopic(partitions);
    return Array.from({ length: partitions }, (_, partition) => ({ topic, partition }));
  };
  const onePartition = async (): Promise<TopicPartition> => {
    const [partition] = await topicWith(1);
    if (!partition) throw new Error('no partition was made');
    return partition;
  };

  describe(`${name}: fenced writers`, () => {
    it('show what is appended, in order, and tell the offset of its first record', async () => {
      const { backend, uniqueName } = subject();
      const partition = await onePartition();
      const writer = backend.fencedWriter(uniqueName('writer'), [partition]);
      await writer.init();
      await writer.append(outgoing(partition, 'a', 'b'));
      const base = await writer.append(outgoing(partition, 'c'));
      await writer.append(outgoing(partition, 'd'));
      await writer.close();
      const records = await readAll(backend, partition);
      expect(records.map(({ value }) => value?.toString())).toEqual(['a', 'b', 'c', 'd']);
      expect(base.get(`${partition.topic}-0`)).toBe(records[2]?.offset);
    });

    it('leave no gap of offsets between appends: whoever counts them knows where the log ends', async () => {
      const { backend, uniqueName } = subject();
      const partition = await onePartition();
      const writer = backend.fencedWriter(uniqueName('writer'), [partition]);
      await writer.init();
      const end = await backend.endOffset(partition);
      await writer.append(outgoing(partition, 'a', 'b'));
      await writer.append(outgoing(partition, 'c'));
      await writer.close();
      expect((await readAll(backend, partition)).map(({ offset }) => offset)).toEqual([end, end + 1, end + 2]);
      expect(await backend.endOffset(partition)).toBe(end + 3);
    });

    it('refuse the older of two as soon as the newer is initialised, before that has written anything', async () => {
      const { backend, uniqueName } = subject();
      const partitions = await topicWith(2);
      const transactionalId = uniqueName('writer');
      const zombies = await Promise.all(
        partitions.map(async (partition) => {
          const id = `${transactionalId}.${String(partition.partition)}`;
          const older = backend.fencedWriter(id, [partition]);
          await older.init();
          await older.append(outgoing(partition, 'old'));
          return { older, newer: backend.fencedWriter(id, [partition]), partition };
        }),
      );
      for (const { older, newer, partition } of zombies) {
        await newer.init();
        const end = await backend.endOffset(partition);
        await expect(older.append(outgoing(partition, 'zombie'))).rejects.toMatchObject({ code: 'PRODUCER_FENCED' });
        expect(await backend.endOffset(partition)).toBe(end);
        await newer.append(outgoing(partition, 'new'));
        await Promise.all([older.close(), newer.close()]);
        expect(await valuesOf(backend, partition)).toEqual(['old', 'new']);
      }
    });

    it('fence in every one of their partitions, and write to several of them at once', async () => {
      const { backend, uniqueName } = subject();
      const partitions = await topicWith(3);
      const id = uniqueName('writer');
      const [older, newer] = [backend.fencedWriter(id, partitions), backend.fencedWriter(id, partitions)];
      await older.init();
      await older.append(partitions.flatMap((partition) => outgoing(partition, 'old')));
      await newer.init();
      for (const partition of partitions.slice(0, 1))
        await expect(older.append(outgoing(partition, 'zombie'))).rejects.toMatchObject({ code: 'PRODUCER_FENCED' });
      await newer.append(partitions.flatMap((partition) => outgoing(partition, 'new')));
      await Promise.all([older.close(), newer.close()]);
      for (const partition of partitions) expect(await valuesOf(backend, partition)).toEqual(['old', 'new']);
    });

    it('are dead after a refusal', async () => {
      const { backend, uniqueName } = subject();
      const partition = await onePartition();
      const id = uniqueName('writer');
      const [older, newer] = [backend.fencedWriter(id, [partition]), backend.fencedWriter(id, [partition])];
      await older.init();
      await newer.init();
      await expect(older.append(outgoing(partition, 'a'))).rejects.toMatchObject({ code: 'PRODUCER_FENCED' });
      await expect(older.append(outgoing(partition, 'b'))).rejects.toThrow();
      await Promise.all([older.close(), newer.close()]);
      expect(await valuesOf(backend, partition)).toEqual([]);
    });
  });
};
