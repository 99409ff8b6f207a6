import { describe, expect, it } from '@jest/globals';
import type { StreamsBackend } from '../backend/backend.js';
import { silentLogger } from '../logger.js';
import { keyValueStore } from '../state/key-value-store.js';
import { jsonSerde } from '../state/state-store.js';
import { topicsUsedBy, verifyTopics } from './topics.js';
import { createTopology } from './topology.js';

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

/** What was warned of. */
const warned: unknown[] = [];
const logger = { ...silentLogger, warn: (event: string, fields?: object) => warned.push({ event, ...fields }) };

function verify(counts: Readonly<Record<string, number>>): Promise<number> {
  return verified(backendWith(counts)).then(({ counts: found }) => found.get('input') ?? 0);
}

function verified(backend: Pick<StreamsBackend, 'partitionCount' | 'topicSettings'>) {
  return verifyTopics(topicsUsedBy(topology), { backend, logger });
}

function backendWith(
  counts: Readonly<Record<string, number>>,
  settings: Readonly<Record<string, string>> = {},
  of = 'counts',
) {
  return {
    partitionCount: (topic: string) => Promise.resolve(counts[topic] ?? null),
    topicSettings: (topic: string) => Promise.resolve(new Map(topic === of ? Object.entries(settings) : [])),
  };
}

const right = { input: 4, counts: 4, beside: 4, elsewhere: 7 };

function without(topic: keyof typeof right): Record<string, number> {
  return Object.fromEntries(Object.entries(right).filter(([name]) => name !== topic));
}

describe('the topics of a topology', () => {
  it('pass when they exist with as many partitions as the source, whose number is returned', async () => {
    await expect(verify(right)).resolves.toBe(4);
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
  ] as const)('must exist: without %s the error names it, its role and how to create it', async (topic, message) => {
    await expect(verify(without(topic))).rejects.toMatchObject({ code: 'TOPIC_MISSING', message });
  });

  it('are not checked for a topology that contradicts itself, however it was created', () => {
    const contradiction = { ...topology, source: 'counts' };
    expect(() => topicsUsedBy(contradiction)).toThrow(expect.objectContaining({ code: 'INVALID_TOPOLOGY' }));
  });

  it.each([
    ['counts', 'the changelog of the store counts'],
    ['beside', 'the sink beside'],
  ])('must be as wide as the source: for another count of %s the error names both', async (topic, role) => {
    await expect(verify({ ...right, [topic]: 5 })).rejects.toMatchObject({
      code: 'PARTITIONS_DIFFER',
      message: `The topic ${topic}, ${role} of app, has 5 partitions and input has 4: a task works on the partition of its own number, so create ${topic} with 4 partitions (as many as input has).`,
    });
  });

  it('must have been as many when the state was made: an error about partitions added to the source does not say to add them to a changelog', async () => {
    await expect(verify({ ...right, counts: 3 })).rejects.toMatchObject({
      code: 'PARTITIONS_DIFFER',
      message:
        'The topic input has 4 partitions now and had 3: keys have moved away from their state and their order. Create a topic with the old count, or migrate to new topics and a new group.',
    });
  });

  it.each([
    ['cleanup.policy', 'compact,delete', 'set it to compact, or state that is older than the retention is lost'],
    ['cleanup.policy', 'delete', 'set it to compact'],
    ['delete.retention.ms', '3600000', 'set it to 86400000 or more'],
    ['max.message.bytes', '100000', 'set it to'],
    ['min.insync.replicas', '3', 'it has fewer replicas, so nothing can be written'],
  ])('must keep the state: a changelog with %s=%s is refused with the fix', async (setting, value, fix) => {
    const settings = { 'cleanup.policy': 'compact', 'replication.factor': '2', [setting]: value };
    await expect(verified(backendWith(right, settings))).rejects.toMatchObject({
      code: 'TOPIC_SETTINGS',
      message: expect.stringContaining(
        `The topic counts, the changelog of the store counts of app, has ${setting}=${value}: ${fix}`,
      ),
    });
  });

  it.each(['CreateTime', 'LogAppendTime'])('pass with a changelog of their own settings and %s', async (type) => {
    const settings = {
      'cleanup.policy': 'compact',
      'delete.retention.ms': '86400000',
      'max.message.bytes': '1048588',
      'message.timestamp.type': type,
      'min.insync.replicas': '2',
      'replication.factor': '3',
    };
    const { byAppendTime } = await verified(backendWith(right, settings));
    expect([...byAppendTime]).toEqual(type === 'LogAppendTime' ? ['counts'] : []);
  });

  it('must take whole batches: a sink with less is refused with the fix', async () => {
    const small = backendWith(right, { 'max.message.bytes': '500000' }, 'beside');
    await expect(verified(small)).rejects.toMatchObject({
      code: 'TOPIC_SETTINGS',
      message: expect.stringContaining(
        'The topic beside, the sink beside of app, has max.message.bytes=500000: set it',
      ),
    });
  });

  it.each(['counts', 'beside'])('are warned of when one replica in sync of three is enough: %s', async (name) => {
    warned.length = 0;
    const settings = { 'cleanup.policy': 'compact', 'min.insync.replicas': '1', 'replication.factor': '3' };
    await verified(backendWith(right, settings, name));
    const fields = { topic: name, setting: 'min.insync.replicas', value: '1' };
    expect(warned).toEqual([expect.objectContaining({ event: 'topic_setting_doubtful', ...fields })]);
  });

  it('are warned of once when their settings may not be read', async () => {
    warned.length = 0;
    const backend = { ...backendWith(right), topicSettings: () => Promise.resolve(null) };
    await verified(backend);
    const topics = ['counts', 'beside', 'elsewhere'];
    expect(warned).toEqual([expect.objectContaining({ event: 'topic_settings_unread', topics })]);
  });
});
