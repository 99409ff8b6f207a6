import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type Admin, Kafka, logLevel, type Producer } from 'kafkajs';
import { makeTopics } from '../../../../../test/support/make-topics.js';
import { requireTestStack } from '../../../../../test/support/test-stack.js';
import { silentLogger } from '../../logger.js';
import { type BackendUnderTest, describeBackend, describeFencedWriter } from '../backend.contract.js';
import { describeRebalance } from '../rebalance.contract.js';
import { createKafkaBackend } from './kafka-backend.js';

const { brokers } = requireTestStack();
const kafka = new Kafka({ brokers, clientId: 'backend-contract', logLevel: logLevel.NOTHING });
const backend = createKafkaBackend({
  kafka: { brokers, clientId: 'backend-contract' },
  logger: silentLogger,
  now: Date.now,
});
let admin: Admin;
let producer: Producer;

beforeAll(async () => {
  admin = kafka.admin();
  producer = kafka.producer();
  await Promise.all([admin.connect(), producer.connect()]);
});

afterAll(async () => {
  await Promise.all([admin.disconnect(), producer.disconnect(), backend.close()]);
});

function subject(): BackendUnderTest {
  return {
    backend,
    createTopic: async (partitions) => {
      const topic = `contract-${randomUUID()}`;
      await makeTopics(admin, [{ topic, numPartitions: partitions, replicationFactor: 1 }]);
      return topic;
    },
    append: async ({ topic, partition }, key, value) => {
      await producer.send({ topic, messages: [{ partition, key, value }] });
    },
    uniqueName: (prefix) => `${prefix}-${randomUUID()}`,
  };
}

describeBackend('Kafka backend', subject);
describeFencedWriter('Kafka backend', subject);
describeRebalance('Kafka backend', subject);

it('The settings of a topic are known, those of the broker and its replicas too', async () => {
  const topic = `settings-${randomUUID()}`;
  const configEntries = [{ name: 'cleanup.policy', value: 'compact,delete' }];
  await makeTopics(admin, [{ topic, replicationFactor: 1, configEntries }]);
  const settings = await backend.topicSettings(topic);
  expect(Object.fromEntries(settings ?? [])).toMatchObject({
    'cleanup.policy': 'compact,delete',
    'delete.retention.ms': '86400000',
    'min.insync.replicas': '1',
    'max.message.bytes': expect.any(String),
    'message.timestamp.type': 'CreateTime',
    'replication.factor': '1',
  });
});

it('A topic that gets partitions is read in full after another join', async () => {
  const topic = `grows-${randomUUID()}`;
  await makeTopics(admin, [{ topic, numPartitions: 1, replicationFactor: 1 }]);
  const member = backend.group({ groupId: topic, topics: [topic] });
  const assigned = new Map<number, () => void>();
  const grown = new Promise<void>((resolve) => assigned.set(3, resolve));
  await member.join({ assigned: ({ partitions }) => assigned.get(partitions.length)?.(), failed: () => undefined });
  await admin.createPartitions({ topicPartitions: [{ topic, count: 3 }] });
  while ((await backend.partitionCount(topic, { fresh: true })) !== 3);
  member.rejoin();
  await grown;
  await member.leave();
});
