import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { connectKafka } from '@waypost/streams/admin';
import { makeTopics } from '../../../../test/support/make-topics.js';
import { type KafkaRight, missingRights } from './missing-rights.js';

const settings = { brokers: (process.env['WAYPOST_TEST_BROKERS'] ?? '').split(','), clientId: 'rights-test' };

const admin = connectKafka(settings).admin();
beforeAll(() => admin.connect());
afterAll(() => admin.disconnect());

function everyRight(topic: string): KafkaRight[] {
  const operations = ['READ', 'WRITE', 'CREATE', 'DESCRIBE', 'DESCRIBE_CONFIGS'] as const;
  return [
    ...operations.map((operation): KafkaRight => ({ resource: 'topic', name: topic, operation })),
    { resource: 'group', name: topic, operation: 'READ' },
    { resource: 'transactionalId', name: topic, operation: 'WRITE' },
  ];
}

/** What a broker with an authorizer answers is in the doctor's test. */
describe('Asking for rights', () => {
  it('finds none missing at a broker without an authorizer, and leaves topic and groups as they were', async () => {
    const topic = `rights-${randomUUID()}`;
    await makeTopics(admin, [{ topic, numPartitions: 1 }]);
    expect(await missingRights(settings, everyRight(topic))).toEqual([]);
    expect(await admin.fetchTopicOffsets(topic)).toMatchObject([{ low: '0', high: '0' }]);
    const { groups } = await admin.listGroups();
    expect(groups.map(({ groupId }) => groupId)).not.toContain(topic);
  });

  it('creates no topic that is not there', async () => {
    const topic = `rights-${randomUUID()}`;
    expect(await missingRights(settings, everyRight(topic))).toEqual([]);
    expect(await admin.listTopics()).not.toContain(topic);
  });
});
