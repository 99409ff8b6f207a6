import { randomBytes } from 'node:crypto';
import { Kafka, type KafkaConfig, logLevel } from 'kafkajs';

const PROBE_GROUP = 'dev-stack.probe';

/** A client for probing: silent and without retries, since the caller probes again. */
function probeClient(config: KafkaConfig): Kafka {
  return new Kafka({
    ...config,
    clientId: 'dev-stack',
    logLevel: logLevel.NOTHING,
    connectionTimeout: 1_000,
    requestTimeout: 10_000,
    retry: { retries: 0 },
  });
}

/**
 * Does once what the applications will do: creates a topic (and removes it), reads a group's offsets and opens a
 * transaction. The last two make the broker create its internal topics and load their coordinators, whose first use
 * would otherwise fail in an application.
 */
export async function probeKafka(config: KafkaConfig): Promise<void> {
  const kafka = probeClient(config);
  const admin = kafka.admin();
  const topic = `dev-stack.probe-${randomBytes(4).toString('hex')}`;
  await admin.connect();
  try {
    await admin.createTopics({ waitForLeaders: false, topics: [{ topic, numPartitions: 1, replicationFactor: 1 }] });
    await admin.deleteTopics({ topics: [topic] });
    await admin.fetchOffsets({ groupId: PROBE_GROUP });
    await openTransaction(kafka);
  } finally {
    await admin.disconnect();
  }
}

/** Connects to an external cluster, and leaves nothing in it. */
export async function probeForeignKafka(config: KafkaConfig): Promise<void> {
  const admin = probeClient(config).admin();
  await admin.connect();
  try {
    await admin.describeCluster();
  } finally {
    await admin.disconnect();
  }
}

async function openTransaction(kafka: Kafka): Promise<void> {
  const producer = kafka.producer({ transactionalId: PROBE_GROUP, maxInFlightRequests: 1 });
  await producer.connect();
  try {
    const transaction = await producer.transaction();
    await transaction.abort();
  } finally {
    await producer.disconnect();
  }
}
