import { describe, expect, it } from '@jest/globals';
import { allTopics, setUpKafka } from '@waypost/contracts';
import { openTopicAdmin } from '@waypost/streams';

const kafka = { brokers: (process.env['WAYPOST_TEST_BROKERS'] ?? '').split(','), clientId: 'set-up-test' };
const registryUrl = process.env['WAYPOST_TEST_REGISTRY_URL'] ?? '';

describe('Setting up Kafka', () => {
  it('creates every topic with its settings, and changes nothing when repeated', async () => {
    const admin = await openTopicAdmin(kafka);
    try {
      const setUp = () => setUpKafka({ admin, registryUrl, partitions: 4, replicationFactor: 1 });
      const { schemaIds } = await setUp();
      expect(await setUp()).toEqual({ createdTopics: [], schemaIds });
      for (const topic of allTopics) {
        for (const [setting, value] of Object.entries(topic.configs)) {
          const found = await admin.topicSetting([topic.name], setting);
          expect([topic.name, setting, found.get(topic.name)]).toEqual([topic.name, setting, value]);
        }
      }
    } finally {
      await admin.close();
    }
  });
});
