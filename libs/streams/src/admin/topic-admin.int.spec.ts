import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import kafkajs, { type Kafka } from 'kafkajs';
import { requireTestStack } from '../../../../test/support/test-stack.js';
import { connectKafka } from './kafka-connection.js';
import { openTopicAdmin } from './topic-admin.js';

type OpenTopicAdmin = Awaited<ReturnType<typeof openTopicAdmin>>;

let kafka: Kafka;
let admin: OpenTopicAdmin;
beforeAll(async () => {
  const settings = { brokers: requireTestStack().brokers, clientId: 'topic-admin-test' };
  kafka = connectKafka(settings);
  admin = await openTopicAdmin(settings);
});
afterAll(() => admin.close());

async function configOf(topic: string): Promise<Record<string, string>> {
  const reader = kafka.admin();
  await reader.connect();
  try {
    const described = await reader.describeConfigs({
      includeSynonyms: false,
      resources: [{ type: kafkajs.ConfigResourceTypes.TOPIC, name: topic }],
    });
    const entries = described.resources[0]?.configEntries ?? [];
    return Object.fromEntries(entries.map(({ configName, configValue }) => [configName, configValue]));
  } finally {
    await reader.disconnect();
  }
}

describe('The topic admin', () => {
  it('creates topics with their partitions and settings', async () => {
    const name = `topic-admin-${randomUUID()}`;
    await admin.createTopics([{ name, partitions: 3, replicationFactor: 1, configs: { 'retention.ms': '123456' } }]);
    expect(await admin.listTopics()).toContain(name);
    expect(await admin.partitionCounts([name])).toEqual(new Map([[name, 3]]));
    expect(await configOf(name)).toMatchObject({ 'retention.ms': '123456' });
  });

  it('says which topic the brokers refuse, and why', async () => {
    const name = `topic-admin-${randomUUID()}`;
    await expect(
      admin.createTopics([{ name, partitions: 1, replicationFactor: 3, configs: {} }]),
    ).rejects.toMatchObject({
      code: 'REQUEST_REFUSED',
      message: expect.stringContaining(`Creating the topic ${name} was refused with INVALID_REPLICATION_FACTOR (38)`),
    });
  });

  it('tells the settings of a topic, the defaults of the broker too', async () => {
    const [given, left] = [`topic-admin-${randomUUID()}`, `topic-admin-${randomUUID()}`];
    const spec = { partitions: 1, replicationFactor: 1 };
    await admin.createTopics([
      { ...spec, name: given, configs: { 'message.timestamp.type': 'LogAppendTime' } },
      { ...spec, name: left, configs: {} },
    ]);
    const types = [given, left].map(async (name) => (await admin.topicSettings(name)).get('message.timestamp.type'));
    expect(await Promise.all(types)).toEqual(['LogAppendTime', 'CreateTime']);
  });

  it('creates the missing topics next to one that exists by now', async () => {
    const [first, second] = [`topic-admin-${randomUUID()}`, `topic-admin-${randomUUID()}`];
    const spec = { partitions: 1, replicationFactor: 1, configs: {} };
    await admin.createTopics([{ ...spec, name: first }]);
    await admin.createTopics([
      { ...spec, name: first },
      { ...spec, name: second },
    ]);
    expect(await admin.listTopics()).toEqual(expect.arrayContaining([first, second]));
  });
});
