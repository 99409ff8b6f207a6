import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll } from '@jest/globals';
import { type Admin, Kafka, logLevel, type Producer } from 'kafkajs';
import { silentLogger } from '../../logger.js';
import { type BackendUnderTest, describeBackend, describeFencedWriter } from '../backend.contract.js';
import { describeRebalance } from '../rebalance.contract.js';
import { createKafkaBackend } from './kafka-backend.js';

const brokers = (process.env['WAYPOST_TEST_BROKERS'] ?? '').split(',');
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
      await admin.createTopics({
        waitForLeaders: true,
        topics: [{ topic, numPartitions: partitions, replicationFactor: 1 }],
      });
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
