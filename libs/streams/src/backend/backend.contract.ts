import { describe, expect, it } from '@jest/globals';
import { until } from '../../../../test/support/until.js';
import { partitionName, type StreamRecord, type TopicPartition } from '../record.js';
import type { Assignment, GroupMember, StreamsBackend } from './backend.js';
import { readToEnd } from './log-reader.js';

export interface BackendUnderTest {
  readonly backend: StreamsBackend;
  /** Creates a topic with a unique name. */
  createTopic(partitions: number): Promise<string>;
  /** Writes as a plain producer, outside of any transaction. */
  append(partition: TopicPartition, key: string, value: string | null): Promise<void>;
  uniqueName(prefix: string): string;
}

function outgoing(topic: string, value: string, partition = 0) {
  return { topic, partition, key: Buffer.from('key'), value: Buffer.from(value) };
}

async function readAll(backend: StreamsBackend, partition: TopicPartition): Promise<readonly StreamRecord[]> {
  const fetcher = backend.fetcher();
  const records: StreamRecord[] = [];
  await readToEnd(backend, fetcher, partition, 0, (batch) => void records.push(...batch.records));
  await fetcher.close();
  return records;
}

async function committedValues(backend: StreamsBackend, partition: TopicPartition): Promise<(string | undefined)[]> {
  return (await readAll(backend, partition)).map(({ value }) => value?.toString());
}

async function joinAndCollect(member: GroupMember): Promise<{ assignments: Assignment[]; latest(): Assignment }> {
  const assignments: Assignment[] = [];
  await member.join({
    assigned: (assignment) => void assignments.push(assignment),
    failed: (error) => {
      throw error;
    },
  });
  return {
    assignments,
    latest: () => {
      const last = assignments.at(-1);
      if (!last) throw new Error('no assignment yet');
      return last;
    },
  };
}

export function describeBackend(name: string, subject: () => BackendUnderTest): void {
  describe(`${name}: transactions`, () => {
    it('shows the records of a committed transaction, in order, and the offset of the first', async () => {
      const { backend, createTopic, uniqueName } = subject();
      const topic = await createTopic(1);
      const producer = backend.producer(uniqueName('tx'));
      await producer.init();
      await producer.commit({ records: [outgoing(topic, 'a'), outgoing(topic, 'b')] });
      const second = await producer.commit({ records: [outgoing(topic, 'c')] });
      await producer.close();
      expect(await committedValues(backend, { topic, partition: 0 })).toEqual(['a', 'b', 'c']);
      expect(second.get(`${topic}-0`)).toBe(3); // after two records and a marker
    });

    it('commits input positions together with the records', async () => {
      const { backend, createTopic, uniqueName } = subject();
      const [input, other, output] = [await createTopic(1), await createTopic(1), await createTopic(1)];
      const groupId = uniqueName('group');
      const producer = backend.producer(uniqueName('tx'));
      await producer.init();
      const offsets = [
        { groupId, topic: input, partition: 0, offset: 42, metadata: 'from 7' },
        { groupId, topic: other, partition: 0, offset: 7 },
      ];
      await producer.commit({ records: [outgoing(output, 'a')], offsets });
      await producer.close();
      const member = backend.group({ groupId, topics: [input] });
      await joinAndCollect(member);
      expect(await member.committed({ topic: input, partition: 0 })).toEqual({ offset: 42, metadata: 'from 7' });
      expect(await member.committed({ topic: other, partition: 0 })).toEqual({ offset: 7, metadata: '' });
      await member.leave();
    });

    it('shows a committed position at once to a reader that asks for a stable one', async () => {
      const { backend, createTopic, uniqueName } = subject();
      const [input, output] = [await createTopic(1), await createTopic(4)];
      const groupId = uniqueName('group');
      const producer = backend.producer(uniqueName('tx'));
      await producer.init();
      const member = backend.group({ groupId, topics: [input] });
      expect(await member.committed({ topic: input, partition: 0 }, { stable: true })).toBeNull();
      for (let offset = 1; offset <= 40; offset++) {
        const position = { topic: input, partition: 0, offset, metadata: `at ${String(offset)}` };
        // Its markers go to several partitions, and take their time.
        const records = Array.from({ length: 4 }, (_, partition) => ({ ...outgoing(output, 'a'), partition }));
        await producer.commit({ records, offsets: [{ groupId, ...position }] });
        const found = await member.committed({ topic: input, partition: 0 }, { stable: true });
        expect(found).toEqual({ offset, metadata: position.metadata });
      }
      await producer.close();
      await member.leave();
    });

    it('fences the older of two producers with one transactional.id: none of its records appear', async () => {
      const { backend, createTopic, uniqueName } = subject();
      const topic = await createTopic(1);
      const transactionalId = uniqueName('tx');
      const older = backend.producer(transactionalId);
      await older.init();
      await older.commit({ records: [outgoing(topic, 'old')] });
      const newer = backend.producer(transactionalId);
      await newer.init();
      await expect(older.commit({ records: [outgoing(topic, 'zombie')] })).rejects.toMatchObject({
        code: 'PRODUCER_FENCED',
      });
      await newer.commit({ records: [outgoing(topic, 'new')] });
      await Promise.all([older.close(), newer.close()]);
      expect(await committedValues(backend, { topic, partition: 0 })).toEqual(['old', 'new']);
    });

    it('keeps tombstones and empty values apart', async () => {
      const { backend, createTopic, uniqueName } = subject();
      const topic = await createTopic(1);
      const producer = backend.producer(uniqueName('tx'));
      await producer.init();
      const key = Buffer.from('k');
      await producer.commit({
        records: [
          { topic, partition: 0, key, value: null },
          { topic, partition: 0, key, value: Buffer.alloc(0) },
        ],
      });
      await producer.close();
      expect(await committedValues(backend, { topic, partition: 0 })).toEqual([undefined, '']);
    });

    it('keeps the headers of records in their order, those of one key and those without a value included', async () => {
      const { backend, createTopic, uniqueName } = subject();
      const topic = await createTopic(1);
      const producer = backend.producer(uniqueName('tx'));
      await producer.init();
      const headers = [
        { key: 'trace', value: Buffer.from('first') },
        { key: 'trace', value: Buffer.from('second') },
        { key: 'größe', value: null },
      ];
      await producer.commit({ records: [{ ...outgoing(topic, 'a'), headers }, outgoing(topic, 'b')] });
      await producer.close();
      const records = await readAll(backend, { topic, partition: 0 });
      expect(records.map((record) => record.headers)).toEqual([headers, []]);
    });
  });

  describe(`${name}: reading`, () => {
    it('delivers records that are written while a reader waits', async () => {
      const { backend, createTopic, append } = subject();
      const partition = { topic: await createTopic(2), partition: 1 };
      const fetcher = backend.fetcher();
      const feed = fetcher.open(partition, 0);
      const coming = feed.next();
      await append(partition, 'k', 'hello');
      const batch = await coming;
      expect(batch.records.map(({ offset, key, value }) => [offset, key?.toString(), value?.toString()])).toEqual([
        [0, 'k', 'hello'],
      ]);
      expect(batch.nextOffset).toBe(1);
      await fetcher.close();
    });

    it('reads to the end of a log that ends with transaction markers', async () => {
      const { backend, createTopic, uniqueName } = subject();
      const topic = await createTopic(1);
      const producer = backend.producer(uniqueName('tx'));
      await producer.init();
      await producer.commit({ records: [outgoing(topic, 'a')] });
      const fetcher = backend.fetcher();
      const position = await readToEnd(backend, fetcher, { topic, partition: 0 }, 0, () => undefined);
      expect(position).toBe(await backend.endOffset({ topic, partition: 0 }));
      await Promise.all([producer.close(), fetcher.close()]);
    });

    it('tells of which leader what it reads is, and where the log of that leader ends', async () => {
      const { backend, createTopic, append } = subject();
      const partition = { topic: await createTopic(1), partition: 0 };
      await append(partition, 'k', 'a');
      await append(partition, 'k', 'b');
      const fetcher = backend.fetcher();
      const { leaderEpoch = -1 } = await fetcher.open(partition, 1).next();
      expect(leaderEpoch).toBeGreaterThanOrEqual(0);
      expect(await backend.epochEnd(partition, leaderEpoch)).toBe(2);
      expect(await backend.epochEnd(partition, leaderEpoch, leaderEpoch)).toBe(2);
      await fetcher.close();
    });

    it('knows the offsets of a log by time and the number of partitions of a topic', async () => {
      const { backend, createTopic, append } = subject();
      const topic = await createTopic(3);
      const partition = { topic, partition: 2 };
      await append(partition, 'k', 'a');
      expect(await backend.startOffset(partition)).toBe(0);
      expect(await backend.endOffset(partition)).toBe(1);
      expect(await backend.offsetAt(partition, 0)).toBe(0);
      expect(await backend.offsetAt(partition, Date.now() + 3_600_000)).toBeNull();
      expect(await backend.partitionCount(topic)).toBe(3);
      expect(await backend.partitionCount('no-such-topic')).toBeNull();
    });
  });

  describe(`${name}: groups`, () => {
    it('gives a single member every partition and confirms it in its generation only', async () => {
      const { backend, createTopic, uniqueName } = subject();
      const topic = await createTopic(4);
      const member = backend.group({ groupId: uniqueName('group'), topics: [topic] });
      const { latest } = await joinAndCollect(member);
      expect(
        latest()
          .partitions.map(({ partition }) => partition)
          .sort(),
      ).toEqual([0, 1, 2, 3]);
      expect(await member.confirm(latest().generation)).toBe(true);
      expect(await member.confirm(latest().generation - 1)).toBe(false);
      expect(await member.committed({ topic, partition: 0 })).toBeNull();
      const position = { offset: 5, metadata: '' };
      expect(await member.commit({ topic, partition: 0 }, position, latest().generation)).toBe(true);
      expect(await member.committed({ topic, partition: 0 })).toEqual(position);
      expect(await member.commit({ topic, partition: 0 }, { ...position, offset: 9 }, latest().generation - 1)).toBe(
        false,
      );
      expect(await member.committed({ topic, partition: 0 })).toEqual(position);
      await member.leave();
    });

    it('gives the partitions of a topic to the members that have subscribed to it, and to no others', async () => {
      const { backend, createTopic, uniqueName } = subject();
      const [pairs, triples] = [await createTopic(2), await createTopic(3)];
      const groupId = uniqueName('group');
      const first = backend.group({ groupId, topics: [pairs] });
      const one = await joinAndCollect(first);
      const second = backend.group({ groupId, topics: [triples] });
      const two = await joinAndCollect(second);
      const names = ({ latest }: typeof one): string[] => latest().partitions.map(partitionName).sort();
      await until(() => {
        expect(names(one)).toEqual([`${pairs}-0`, `${pairs}-1`]);
        expect(names(two)).toEqual([`${triples}-0`, `${triples}-1`, `${triples}-2`]);
      });
      await Promise.all([first.leave(), second.leave()]);
    });

    it('moves only what must move when a second member joins, and gives it back when it leaves', async () => {
      const { backend, createTopic, uniqueName } = subject();
      const topic = await createTopic(4);
      const groupId = uniqueName('group');
      const first = backend.group({ groupId, topics: [topic] });
      const one = await joinAndCollect(first);
      const second = backend.group({ groupId, topics: [topic] });
      const two = await joinAndCollect(second);
      await until(() => one.latest().partitions.length === 2 && two.latest().partitions.length === 2);
      const all = [...one.latest().partitions, ...two.latest().partitions].map(({ partition }) => partition);
      expect(all.sort()).toEqual([0, 1, 2, 3]);
      const keptByFirst = one.latest().partitions;
      await second.leave();
      await until(() => one.latest().partitions.length === 4);
      expect(one.latest().partitions).toEqual(expect.arrayContaining([...keptByFirst]));
      await first.leave();
    });
  });
}

function recordsFor(partition: TopicPartition, ...values: string[]) {
  return values.map((value) => ({ ...partition, key: Buffer.from('key'), value: Buffer.from(value) }));
}

/** What every backend promises of writers without transactions. */
export function describeFencedWriter(name: string, subject: () => BackendUnderTest): void {
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
    it('show what is appended, in order, and return the offset of the first record', async () => {
      const { backend, uniqueName } = subject();
      const partition = await onePartition();
      const writer = backend.fencedWriter(uniqueName('writer'), [partition]);
      await writer.init();
      await writer.append(recordsFor(partition, 'a', 'b'));
      const base = await writer.append(recordsFor(partition, 'c'));
      await writer.append(recordsFor(partition, 'd'));
      await writer.close();
      const records = await readAll(backend, partition);
      expect(records.map(({ value }) => value?.toString())).toEqual(['a', 'b', 'c', 'd']);
      expect(base.get(`${partition.topic}-0`)).toBe(records[2]?.offset);
    });

    it('leave no gap of offsets between appends, so that the end of the log can be computed', async () => {
      const { backend, uniqueName } = subject();
      const partition = await onePartition();
      const writer = backend.fencedWriter(uniqueName('writer'), [partition]);
      await writer.init();
      const end = await backend.endOffset(partition);
      await writer.append(recordsFor(partition, 'a', 'b'));
      await writer.append(recordsFor(partition, 'c'));
      await writer.close();
      expect((await readAll(backend, partition)).map(({ offset }) => offset)).toEqual([end, end + 1, end + 2]);
      expect(await backend.endOffset(partition)).toBe(end + 3);
    });

    it('refuse the older of two as soon as the newer is initialized, before that has written anything', async () => {
      const { backend, uniqueName } = subject();
      const partitions = await topicWith(2);
      const transactionalId = uniqueName('writer');
      const zombies = await Promise.all(
        partitions.map(async (partition) => {
          const id = `${transactionalId}.${String(partition.partition)}`;
          const older = backend.fencedWriter(id, [partition]);
          await older.init();
          await older.append(recordsFor(partition, 'old'));
          return { older, newer: backend.fencedWriter(id, [partition]), partition };
        }),
      );
      for (const { older, newer, partition } of zombies) {
        await newer.init();
        const end = await backend.endOffset(partition);
        await expect(older.append(recordsFor(partition, 'zombie'))).rejects.toMatchObject({ code: 'PRODUCER_FENCED' });
        expect(await backend.endOffset(partition)).toBe(end);
        await newer.append(recordsFor(partition, 'new'));
        await Promise.all([older.close(), newer.close()]);
        expect(await committedValues(backend, partition)).toEqual(['old', 'new']);
      }
    });

    it('fence in every one of their partitions, and write to several of them at once', async () => {
      const { backend, uniqueName } = subject();
      const partitions = await topicWith(3);
      const id = uniqueName('writer');
      const [older, newer] = [backend.fencedWriter(id, partitions), backend.fencedWriter(id, partitions)];
      await older.init();
      await older.append(partitions.flatMap((partition) => recordsFor(partition, 'old')));
      await newer.init();
      for (const partition of partitions.slice(0, 1))
        await expect(older.append(recordsFor(partition, 'zombie'))).rejects.toMatchObject({ code: 'PRODUCER_FENCED' });
      await newer.append(partitions.flatMap((partition) => recordsFor(partition, 'new')));
      await Promise.all([older.close(), newer.close()]);
      for (const partition of partitions) expect(await committedValues(backend, partition)).toEqual(['old', 'new']);
    });

    it('are dead after a refusal', async () => {
      const { backend, uniqueName } = subject();
      const partition = await onePartition();
      const id = uniqueName('writer');
      const [older, newer] = [backend.fencedWriter(id, [partition]), backend.fencedWriter(id, [partition])];
      await older.init();
      await newer.init();
      await expect(older.append(recordsFor(partition, 'a'))).rejects.toMatchObject({ code: 'PRODUCER_FENCED' });
      await expect(older.append(recordsFor(partition, 'b'))).rejects.toThrow();
      await Promise.all([older.close(), newer.close()]);
      expect(await committedValues(backend, partition)).toEqual([]);
    });
  });
}
