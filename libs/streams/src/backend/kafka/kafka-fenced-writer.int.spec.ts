import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Admin, Kafka, logLevel } from 'kafkajs';
import { makeTopics } from '../../../../../test/support/make-topics.js';
import { requireTestStack } from '../../../../../test/support/test-stack.js';
import { silentLogger } from '../../logger.js';
import type { TopicPartition } from '../../record.js';
import { readToEnd } from '../log-reader.js';
import { createCoalescedProduce, type Produce } from './batch-writer.js';
import { createKafkaBackend } from './kafka-backend.js';
import { KafkaClient } from './kafka-client.js';
import { KafkaFencedWriter } from './kafka-fenced-writer.js';

const { brokers } = requireTestStack();
const settings = { brokers, clientId: 'fenced-writer' };
const backend = createKafkaBackend({ kafka: settings, logger: silentLogger, now: Date.now });
const client = new KafkaClient(settings, silentLogger);
let admin: Admin;

beforeAll(async () => {
  admin = new Kafka({ ...settings, logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
});

afterAll(async () => {
  await Promise.all([admin.disconnect(), backend.close(), client.close()]);
});

async function createTopic(numPartitions: number): Promise<string> {
  const topic = `fenced-${randomUUID()}`;
  await makeTopics(admin, [{ topic, numPartitions, replicationFactor: 1 }]);
  return topic;
}

function writerOf(partitions: readonly TopicPartition[], produce: Produce) {
  return new KafkaFencedWriter({
    transactionalId: `writer-${randomUUID()}`,
    partitions,
    client,
    produce,
    logger: silentLogger,
    now: Date.now,
    monotonicNow: Date.now,
  });
}

async function valuesOf(partition: TopicPartition): Promise<(string | undefined)[]> {
  const fetcher = backend.fetcher();
  const values: (string | undefined)[] = [];
  await readToEnd(backend, fetcher, partition, 0, ({ records }) => {
    values.push(...records.map(({ value }) => value?.toString()));
  });
  await fetcher.close();
  return values;
}

function outgoing(partition: TopicPartition, value: string) {
  return { ...partition, key: null, value: Buffer.from(value) };
}

function connectionLost(): Error {
  return Object.assign(new Error('cut'), { name: 'KafkaJSConnectionClosedError' });
}

describe('A fenced writer on a broker', () => {
  it('sends a batch again whose answer was lost, and the log has it once', async () => {
    const partition = { topic: await createTopic(1), partition: 0 };
    const produce = createCoalescedProduce(client);
    let lost = 0;
    const writer = writerOf([partition], async (leader, batches) => {
      const answers = await produce(leader, batches);
      if (lost++ < 2) throw connectionLost();
      return answers;
    });
    await writer.init();
    const base = await writer.append([outgoing(partition, 'a'), outgoing(partition, 'b')]);
    await writer.append([outgoing(partition, 'c')]);
    await writer.close();
    expect(lost).toBe(4);
    expect(await valuesOf(partition)).toEqual(['a', 'b', 'c']);
    expect(base.get(`${partition.topic}-0`)).toBe(1); // after the marker of init()
  });

  it('shares partitions with other writers, also when all append at the same time', async () => {
    const topic = await createTopic(2);
    const partitions = [0, 1].map((partition) => ({ topic, partition }));
    const produce = createCoalescedProduce(client);
    const writers = Array.from({ length: 4 }, () => writerOf(partitions, produce));
    for (const writer of writers) await writer.init();
    for (let round = 0; round < 5; round++) {
      await Promise.all(
        writers.map((writer, index) =>
          writer.append(partitions.map((partition) => outgoing(partition, `${String(index)}:${String(round)}`))),
        ),
      );
    }
    for (const partition of partitions) {
      const values = await valuesOf(partition);
      expect(values).toHaveLength(20);
      for (const index of writers.keys()) {
        const own = values.filter((value) => value?.startsWith(`${String(index)}:`));
        expect(own).toEqual([0, 1, 2, 3, 4].map((round) => `${String(index)}:${String(round)}`));
      }
    }
  });

  it('sends the records of several writers in one request, and gives each its own result', async () => {
    const topic = await createTopic(3);
    const partitions = [0, 1, 2].map((partition) => ({ topic, partition }));
    let requests = 0;
    const produce = createCoalescedProduce({
      callRaw: (broker, request) => {
        requests++;
        return client.callRaw(broker, request);
      },
    });
    const writers = partitions.map((partition) => ({ partition, writer: writerOf([partition], produce) }));
    for (const { writer } of writers) await writer.init();
    await Promise.all(writers.map(({ writer, partition }) => writer.append([outgoing(partition, 'warm')])));
    requests = 0;
    const bases = await Promise.all(
      writers.map(({ writer, partition }) => writer.append([outgoing(partition, String(partition.partition))])),
    );
    expect(requests).toBe(1);
    for (const [index, partition] of partitions.entries()) {
      expect(await valuesOf(partition)).toEqual(['warm', String(index)]);
      expect([...(bases[index] ?? [])]).toEqual([[`${topic}-${String(index)}`, 2]]);
    }
  });
});
