import { describe, expect, it } from '@jest/globals';
import type { SchemaRegistryPort } from './schema-registry.port.js';
import { setUpKafka, type TopicAdmin, type TopicSpec } from './set-up-kafka.js';
import { allTopics } from './topics.js';

function build(present: Readonly<Record<string, number>> = {}) {
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
      expect(created).toContainEqual({ name: topic.name, partitions, replicationFactor: 1, configs: topic.configs });
    }
  });

  it('creates nothing the second time', async () => {
    const { created, setUp } = build();
    await setUp();
    expect((await setUp()).createdTopics).toEqual([]);
    expect(created).toHaveLength(allTopics.length);
  });

  it('asks for two copies before an acknowledgement when there are three', async () => {
    const { created, setUp } = build();
    await setUp(3);
    expect(created.map((spec) => spec.configs['min.insync.replicas'])).toEqual(allTopics.map(() => '2'));
  });

  it('refuses a topic with another number of partitions, and says which and what to do', async () => {
    const { setUp } = build({ 'fleet.events': 6 });
    await expect(setUp()).rejects.toMatchObject({
      code: 'partition_count_differs',
      message: expect.stringMatching(/fleet\.events has 6 partitions where 4 are expected: set WAYPOST_PARTITIONS/),
    });
  });

  it('registers every schema, then binds its subject to BACKWARD_TRANSITIVE', async () => {
    const { calls, setUp } = build();
    await setUp();
    expect(calls).toEqual(
      allTopics.flatMap(({ subject }) => [`register ${subject}`, `BACKWARD_TRANSITIVE ${subject}`]),
    );
  });
});
