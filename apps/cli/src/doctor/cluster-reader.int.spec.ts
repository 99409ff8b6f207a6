import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { connectKafka } from '@waypost/streams/admin';
import { makeTopics } from '../../../../test/support/make-topics.js';
import { openClusterReader } from './cluster-reader.js';

const settings = { brokers: (process.env['WAYPOST_TEST_BROKERS'] ?? '').split(','), clientId: 'cluster-test' };

const admin = connectKafka(settings).admin();
beforeAll(() => admin.connect());
afterAll(() => admin.disconnect());

/** Brokers that are away are in the fault suites' cluster only; what they leave behind in the metadata is in the doctor's spec. */
describe('A reader of a cluster', () => {
  it('lists brokers, topics with their replicas, and the settings of both', async () => {
    const topic = `cluster-${randomUUID()}`;
    const configEntries = [{ name: 'retention.ms', value: '77000' }];
    await makeTopics(admin, [{ topic, numPartitions: 2, configEntries }]);
    const cluster = openClusterReader(settings);
    const { brokers, topics } = await cluster.state();
    const [broker = -1] = brokers;
    expect(brokers).toEqual([broker]);
    const partition = { leader: broker, replicas: [broker], inSync: [broker] };
    expect(topics.get(topic)).toEqual([partition, partition]);
    expect((await cluster.topicSettings(topic))?.get('retention.ms')).toBe('77000');
    expect((await cluster.brokerSettings(broker))?.get('log.cleaner.enable')).toBe('true');
    await cluster.close();
  });

  it('fails for the settings of a topic that is not there', async () => {
    const cluster = openClusterReader(settings);
    await expect(cluster.topicSettings('no-such-topic')).rejects.toThrow(
      'settings of no-such-topic was refused with UNKNOWN_TOPIC_OR_PARTITION (3)',
    );
    await cluster.close();
  });
});
