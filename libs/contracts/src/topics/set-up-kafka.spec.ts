import { describe, expect, it } from '@jest/globals';
import type { SchemaRegistryPort } from '../registry/schema-registry.js';
import { setUpKafka, type TopicAdmin, type TopicSpec } from './set-up-kafka.js';
import { allTopics } from './topics.js';

/** @param settings of topics, by `<topic> <setting>` */
function build(present: Readonly<Record<string, number>> = {}, settings: Readonly<Record<string, string>> = {}) {
  const counts = new Map(Object.entries(present));
  const created: TopicSpec[] = [];
  const calls: string[] = [];
  const admin: TopicAdmin = {
    listTopics: () => Promise.resolve([...counts.keys()]),
    createTopics: (specs) => {
      created.push(...specs);
      for (const spec of specs) counts.set(spec.name, spec.partitions);
      return Promise.resolve();
    },
    partitionCounts: () => Promise.resolve(counts),
    topicSettings: (name) => {
      const usual = { 'cleanup.policy': 'compact', 'message.timestamp.type': 'LogAppendTime' };
      const found = Object.entries(usual).map(([setting, value]) => [setting, settings[`${name} ${setting}`] ?? value]);
      return Promise.resolve(new Map(found as [string, string][]));
    },
  };
  const registry: SchemaRegistryPort = {
    schemaById: () => Promise.resolve({ type: 'unknown' }),
    idOf: () => Promise.resolve(null),
    register: (subject) => Promise.resolve(calls.push(`register ${subject}`)),
    setCompatibility: (subject, level) => Promise.resolve(void calls.push(`${level} ${subject}`)),
  };
  const setUp = (replicationFactor = 1) =>
    setUpKafka({ admin, registry, registryUrl: 'http://unused', partitions: 4, replicationFactor });
  return { calls, counts, created, setUp };
}

describe('Setting up Kafka', () => {
  it('creates every topic on an empty cluster', async () => {
    const { created, setUp } = build();
    const { createdTopics } = await setUp();
    expect(createdTopics).toEqual(allTopics.map((topic) => topic.name));
    for (const topic of allTopics) {
      const partitions = topic.partitions === 1 ? 1 : 4;
      const spec = { name: topic.name, partitions, replicationFactor: 1 };
      expect(created).toContainEqual({ ...spec, configs: expect.objectContaining(topic.configs) });
    }
  });

  it('creates nothing the second time', async () => {
    const { created, setUp } = build();
    await setUp();
    expect((await setUp()).createdTopics).toEqual([]);
    expect(created).toHaveLength(allTopics.length);
  });

  it.each([
    [3, '2'],
    [2, '1'],
    [1, '1'],
  ])('with %i replicas requires %s in sync, whatever the default of the brokers', async (replicas, minInSync) => {
    const { created, setUp } = build();
    await setUp(replicas);
    expect(created.map((spec) => spec.configs['min.insync.replicas'])).toEqual(allTopics.map(() => minInSync));
  });

  it('refuses a topic with another number of partitions before it creates any, and says which and what to do', async () => {
    const { created, setUp } = build({ 'fleet.events': 6 });
    await expect(setUp()).rejects.toMatchObject({
      code: 'partition_count_differs',
      message: expect.stringMatching(/fleet\.events has 6 partitions where 4 are expected: set WAYPOST_PARTITIONS/),
    });
    expect(created).toEqual([]);
  });

  it.each(['telemetry.pings', 'fleet.geofences', 'fleet.settings'])(
    'refuses %s with times of its producers, by which a ping would see other geofences or settings, and says what to do',
    async (topic) => {
      const partitions = topic === 'telemetry.pings' ? 4 : 1;
      const { setUp } = build({ [topic]: partitions }, { [`${topic} message.timestamp.type`]: 'CreateTime' });
      const fix = `--entity-name ${topic} --add-config message.timestamp.type=LogAppendTime`;
      await expect(setUp()).rejects.toMatchObject({
        code: 'topic_setting_differs',
        message: expect.stringContaining(`Topic ${topic} has message.timestamp.type=CreateTime where LogAppendTime is`),
      });
      await expect(setUp()).rejects.toThrow(fix);
    },
  );

  it('refuses a table whose rows expire, and says what to do', async () => {
    const topic = 'webhook-delivery.subscription-state';
    const { setUp } = build({ [topic]: 4 }, { [`${topic} cleanup.policy`]: 'compact,delete' });
    await expect(setUp()).rejects.toMatchObject({
      code: 'topic_setting_differs',
      message: expect.stringContaining(`--entity-name ${topic} --add-config cleanup.policy=compact`),
    });
  });

  it('accepts any timestamp type of a topic whose times no reader looks at', async () => {
    const topic = 'webhook.subscriptions';
    const { setUp } = build({ [topic]: 1 }, { [`${topic} message.timestamp.type`]: 'CreateTime' });
    expect((await setUp()).createdTopics).not.toContain(topic);
  });

  it('registers every schema, then binds its subject to BACKWARD_TRANSITIVE', async () => {
    const { calls, setUp } = build();
    await setUp();
    expect(calls).toEqual(
      allTopics.flatMap(({ subject }) => [`register ${subject}`, `BACKWARD_TRANSITIVE ${subject}`]),
    );
  });
});
