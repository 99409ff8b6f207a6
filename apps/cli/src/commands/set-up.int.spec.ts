import { randomUUID } from 'node:crypto';
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { allTopics, setUpKafka, topics } from '@waypost/contracts';
import { openManagementStore } from '@waypost/management-store';
import { openTopicAdmin } from '@waypost/streams';
import { connectKafka } from '@waypost/streams/admin';
import { createEmptyDatabase, type TestDatabase } from '../../../../test/support/test-database.js';
import { requireTestStack } from '../../../../test/support/test-stack.js';
import { setUpTables } from './set-up.js';

const kafka = { brokers: requireTestStack().brokers, clientId: 'set-up-test' };
const { registryUrl } = requireTestStack();

describe('Setting up Kafka', () => {
  it('creates every topic with its settings, and changes nothing when repeated', async () => {
    const admin = await openTopicAdmin(kafka);
    try {
      const setUp = () => setUpKafka({ admin, registryUrl, partitions: 4, replicationFactor: 1 });
      const { schemaIds } = await setUp();
      expect(await setUp()).toEqual({ createdTopics: [], schemaIds });
      for (const topic of allTopics) {
        const found = await admin.topicSettings(topic.name);
        expect([topic.name, Object.fromEntries(found)]).toEqual([topic.name, expect.objectContaining(topic.configs)]);
      }
    } finally {
      await admin.close();
    }
  });

  it('makes a changelog that a host whose clock is two hours ahead can write', async () => {
    const admin = await openTopicAdmin(kafka);
    const producer = connectKafka(kafka).producer();
    try {
      const { configs } = topics.deviceState;
      const topic = `set-up-${randomUUID()}`;
      await admin.createTopics([{ name: topic, partitions: 1, replicationFactor: 1, configs }]);
      await producer.connect();
      const timestamp = String(Date.now() + 2 * 3_600_000);
      const sent = await producer.send({ topic, messages: [{ key: 'device', value: 'state', timestamp }] });
      expect(sent).toMatchObject([{ errorCode: 0 }]);
    } finally {
      await producer.disconnect();
      await admin.close();
    }
  });
});

describe('Setting up the tables', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createEmptyDatabase(requireTestStack().databaseUrl);
  });
  afterAll(() => database.drop());

  it('makes a database that public-api can use of an empty one, and changes nothing when repeated', async () => {
    const terminal = { out: new PassThrough(), err: new PassThrough() };
    await setUpTables(terminal, database.url);
    const store = await openManagementStore(database.url);
    const fleet = { fleetId: 'acme', payloadFormat: 'v1', nowMs: Date.now() } as const;
    expect(await store.fleets.create(fleet)).toMatchObject({ type: 'created' });
    await store.close();
    await setUpTables(terminal, database.url);
    expect(String(terminal.out.read())).toMatch(
      /^made [1-9]\d* changes to the tables\nmade 0 changes to the tables\n$/,
    );
  });

  it('says which rights the login lacks that may not make them', async () => {
    const terminal = { out: new PassThrough(), err: new PassThrough() };
    await expect(setUpTables(terminal, database.apiUrl)).rejects.toMatchObject({
      name: 'CliError',
      message: expect.stringMatching(/permission denied .*: this login lacks rights: .*CREATE on their schema/),
    });
  });
});
