import { describe, expect, it } from '@jest/globals';
import { keyValueStore } from '../state/key-value-store.js';
import { jsonSerde } from '../state/state-store.js';
import { createTopology } from './topology.js';
import { verifyTopics } from './verify-topics.js';

const topology = createTopology({
  applicationId: 'app',
  source: 'input',
  stores: { counts: keyValueStore({ changelogTopic: 'counts', serde: jsonSerde<number>() }) },
  sinks: {
    beside: { topic: 'beside', partitioner: 'source-partition' },
    elsewhere: { topic: 'elsewhere', partitioner: 'key' },
  },
  processor: () => ({ process: () => undefined }),
});

function verify(counts: Readonly<Record<string, number>>): Promise<void> {
  return verifyTopics(topology, { partitionCount: (topic) => Promise.resolve(counts[topic] ?? null) });
}

const right = { input: 4, counts: 4, beside: 4, elsewhere: 7 };

function without(topic: keyof typeof right): Record<string, number> {
  return Object.fromEntries(Object.entries(right).filter(([name]) => name !== topic));
}

describe('the topics of a topology', () => {
  it('are well when they exist and those of stores and source-partition sinks have as many partitions as the source', async () => {
    await expect(verify(right)).resolves.toBeUndefined();
  });

  it.each([
    ['input', 'The topic input, the source of app, does not exist: create it before the application starts.'],
    [
      'counts',
      'The topic counts, the changelog of the store counts of app, does not exist: create it with 4 partitions (as many as input has) and cleanup.policy=compact.',
    ],
    [
      'beside',
      'The topic beside, the sink beside of app, does not exist: create it with 4 partitions (as many as input has).',
    ],
    ['elsewhere', 'The topic elsewhere, the sink elsewhere of app, does not exist: create it.'],
  ] as const)('must exist: without %s the error names it, its part and how to create it', async (topic, message) => {
    await expect(verify(without(topic))).rejects.toMatchObject({ code: 'TOPIC_MISSING', message });
  });

  it('are not looked at for a topology that contradicts itself, however it was made', async () => {
    const contradiction = { ...topology, source: 'counts' };
    const asked = verifyTopics(contradiction, { partitionCount: () => Promise.resolve(4) });
    await expect(asked).rejects.toMatchObject({ code: 'INVALID_TOPOLOGY' });
  });

  it.each([
    ['counts', 'the changelog of the store counts'],
    ['beside', 'the sink beside'],
  ])('must be as wide as the source: for another count of %s the error names both', async (topic, role) => {
    await expect(verify({ ...right, [topic]: 3 })).rejects.toMatchObject({
      code: 'PARTITIONS_DIFFER',
      message: `The topic ${topic}, ${role} of app, has 3 partitions and input has 4: a task writes the partition of its own number, so create ${topic} with 4 partitions (as many as input has).`,
    });
  });
});
