import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { connectKafka } from '@waypost/streams/admin';
import { makeTopics } from '../../../../test/support/make-topics.js';
import { requireTestStack } from '../../../../test/support/test-stack.js';
import { type GroupProgressReader, type GroupTopics, openGroupProgress } from './group-progress.js';

type Kafka = ReturnType<typeof connectKafka>;
type Admin = ReturnType<Kafka['admin']>;

let kafka: Kafka;
let admin: Admin;
let reader: GroupProgressReader;
beforeAll(async () => {
  const settings = { brokers: requireTestStack().brokers, clientId: 'group-progress-test' };
  kafka = connectKafka(settings);
  admin = kafka.admin();
  await admin.connect();
  reader = await openGroupProgress(settings);
});
afterAll(async () => {
  await reader.close();
  await admin.disconnect();
});

async function newTopic(): Promise<string> {
  const topic = `progress-${randomUUID()}`;
  await makeTopics(admin, [{ topic, numPartitions: 2, replicationFactor: 1 }]);
  return topic;
}

function groupOn(topic: string): GroupTopics {
  return { id: `group-${randomUUID()}`, topics: [topic] };
}

async function writeTransaction(topic: string): Promise<void> {
  const producer = kafka.producer({ transactionalId: randomUUID(), maxInFlightRequests: 1, idempotent: true });
  await producer.connect();
  const transaction = await producer.transaction();
  await transaction.send({
    topic,
    messages: [
      { partition: 0, value: 'a' },
      { partition: 0, value: 'b' },
    ],
  });
  await transaction.commit();
  await producer.disconnect();
}

/** The marker is written a moment after the commit has been answered. */
async function endOf(topic: string, expected: string): Promise<void> {
  for (;;) {
    const offsets = await admin.fetchTopicOffsets(topic);
    if (offsets.find(({ partition }) => partition === 0)?.offset === expected) return;
  }
}

describe('The progress of consumer groups', () => {
  it('reports a group that does not exist yet', async () => {
    const topic = await newTopic();
    const progress = await reader.read([groupOn(topic)]);
    expect(progress.map(({ partition }) => partition).sort()).toEqual([0, 1]);
    expect(progress).toEqual(progress.map((one) => ({ ...one, startOffset: 0, endOffset: 0, committedOffset: null })));
  });

  it('counts the markers of transactions, as committed positions do', async () => {
    const topic = await newTopic();
    const group = groupOn(topic);
    await writeTransaction(topic);
    await endOf(topic, '3');
    await admin.setOffsets({ groupId: group.id, topic, partitions: [{ partition: 0, offset: '3' }] });
    const progress = await reader.read([group]);
    expect(progress).toContainEqual(expect.objectContaining({ partition: 0, endOffset: 3, committedOffset: 3 }));
    expect(progress).toContainEqual(expect.objectContaining({ partition: 1, endOffset: 0, committedOffset: null }));
  });

  it('cannot be computed for a missing topic', async () => {
    await expect(reader.read([groupOn(`nowhere-${randomUUID()}`)])).rejects.toThrow();
  });
});
