import type { StreamsBackend } from '../backend/backend.js';
import { StreamsError } from '../errors.js';
import type { StreamsLogger } from '../logger.js';
import { type CheckedTopic, verifySettings } from './topic-settings.js';
import { checkTopology, sourcesOf, type Topology } from './topology.js';

/** A topic to create; `configs` are the broker's topic settings by name. */
export interface TopicSpec {
  readonly name: string;
  readonly partitions: number;
  readonly replicationFactor: number;
  readonly configs: Readonly<Record<string, string>>;
}

/**
 * The topics that a topology writes, for TopicAdmin.createTopics(): changelogs are compacted, and all have as many
 * partitions as the source.
 */
export function topicsOf(topology: Topology, size: Pick<TopicSpec, 'partitions' | 'replicationFactor'>): TopicSpec[] {
  return writtenTopics(topology).map(({ topic: name, use }) => ({
    name,
    ...size,
    configs: use === 'changelog' ? { 'cleanup.policy': 'compact' } : {},
  }));
}

export interface UsedTopic extends CheckedTopic {
  /** A task works on the partition of its own number, so the topic needs as many as the first. */
  readonly copartitioned: boolean;
}

/** @throws {StreamsError} INVALID_TOPOLOGY: it may not have come through createTopology() */
export function topicsUsedBy(topology: Topology): UsedTopic[] {
  checkTopology(topology);
  const sources = sourcesOf(topology).map((topic, index) => {
    return { topic, role: index === 0 ? 'the source' : 'a source', use: null, copartitioned: true };
  });
  return [...sources, ...writtenTopics(topology)].map((used) => ({
    ...used,
    role: `${used.role} of ${topology.applicationId}`,
  }));
}

/**
 * Checks topics before the first task is built. The first is the source that names the tasks.
 * @returns how many partitions each has, and those whose records get the time of the broker
 * @throws {StreamsError} TOPIC_MISSING, PARTITIONS_DIFFER, TOPIC_SETTINGS: which topic, and the fix
 */
export async function verifyTopics(
  used: readonly UsedTopic[],
  services: {
    readonly backend: Pick<StreamsBackend, 'partitionCount' | 'topicSettings'>;
    readonly logger: StreamsLogger;
  },
): Promise<{ readonly counts: Map<string, number>; readonly byAppendTime: Set<string> }> {
  const counts = new Map<string, number>();
  const source = used[0]?.topic ?? '';
  for (const { topic, role, use, copartitioned } of used) {
    const count = await services.backend.partitionCount(topic);
    const expected = counts.get(source) ?? count ?? 0;
    const partitions = copartitioned ? ` with ${String(expected)} partitions (as many as ${source} has)` : '';
    if (count === null) {
      const how = topic === source ? ' before the application starts' : partitions;
      const policy = use === 'changelog' ? ' and cleanup.policy=compact' : '';
      throw new StreamsError('TOPIC_MISSING', `The topic ${topic}, ${role}, does not exist: create it${how}${policy}.`);
    }
    // Adding partitions to the changelog too would lose the state of the keys that have moved.
    if (copartitioned && use === 'changelog' && count < expected) throw partitionsAdded(source, count, expected);
    if (copartitioned && count !== expected) {
      throw new StreamsError(
        'PARTITIONS_DIFFER',
        `The topic ${topic}, ${role}, has ${String(count)} partitions and ${source} has ${String(expected)}: a task works on the partition of its own number, so create ${topic}${partitions}.`,
      );
    }
    counts.set(topic, count);
  }
  return { counts, byAppendTime: await verifySettings(used, services) };
}

export function partitionsAdded(topic: string, before: number, count: number): StreamsError {
  return new StreamsError(
    'PARTITIONS_DIFFER',
    `The topic ${topic} has ${String(count)} partitions now and had ${String(before)}: keys have moved away from their state and their order. Create a topic with the old count, or migrate to new topics and a new group.`,
  );
}

function writtenTopics({ stores = {}, sinks }: Topology): UsedTopic[] {
  return [
    ...Object.entries(stores).map(([name, { changelogTopic }]) => ({
      topic: changelogTopic,
      role: `the changelog of the store ${name}`,
      use: 'changelog' as const,
      copartitioned: true,
    })),
    ...Object.entries(sinks).map(([name, { topic, partitioner }]) => ({
      topic,
      role: `the sink ${name}`,
      use: 'output' as const,
      copartitioned: partitioner === 'source-partition',
    })),
  ];
}
