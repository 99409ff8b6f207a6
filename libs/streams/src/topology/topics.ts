import type { StreamsBackend } from '../backend/backend.js';
import { StreamsError } from '../errors.js';
import type { StreamsLogger } from '../logger.js';
import { type UsedTopic, verifySettings } from './topic-settings.js';
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
  return writtenTopics(topology).map(({ topic: name, isChangelog }) => ({
    name,
    ...size,
    configs: isChangelog ? { 'cleanup.policy': 'compact' } : {},
  }));
}

interface WrittenTopic {
  readonly topic: string;
  readonly role: string;
  /** A task writes the partition of its own number, so the topic needs as many as the source. */
  readonly copartitioned: boolean;
  readonly isChangelog: boolean;
}

/**
 * Checks the topology and all its topics before the first task is built.
 * @returns how many partitions the source has, and the sinks whose records get the time of the broker
 * @throws {StreamsError} INVALID_TOPOLOGY, TOPIC_MISSING, PARTITIONS_DIFFER, TOPIC_SETTINGS: which topic, and the fix
 */
export async function verifyTopics(
  topology: Topology,
  backend: Pick<StreamsBackend, 'partitionCount' | 'topicSettings'>,
  logger: StreamsLogger,
): Promise<{ readonly partitions: number; readonly byAppendTime: Set<string> }> {
  // The topology may not have come through createTopology().
  checkTopology(topology);
  const { applicationId } = topology;
  const [source] = sourcesOf(topology);
  const expected = await backend.partitionCount(source);
  if (expected === null) {
    throw new StreamsError(
      'TOPIC_MISSING',
      `The topic ${source}, the source of ${applicationId}, does not exist: create it before the application starts.`,
    );
  }
  const used: UsedTopic[] = [];
  for (const { topic, role, copartitioned, isChangelog } of writtenTopics(topology)) {
    const count = await backend.partitionCount(topic);
    const partitions = copartitioned ? ` with ${String(expected)} partitions (as many as ${source} has)` : '';
    if (count === null) {
      throw new StreamsError(
        'TOPIC_MISSING',
        `The topic ${topic}, ${role} of ${applicationId}, does not exist: create it${partitions}${isChangelog ? ' and cleanup.policy=compact' : ''}.`,
      );
    }
    // Adding partitions to the changelog too would lose the state of the keys that have moved.
    if (isChangelog && count < expected) throw partitionsAdded(source, count, expected);
    if (copartitioned && count !== expected) {
      throw new StreamsError(
        'PARTITIONS_DIFFER',
        `The topic ${topic}, ${role} of ${applicationId}, has ${String(count)} partitions and ${source} has ${String(expected)}: a task writes the partition of its own number, so create ${topic}${partitions}.`,
      );
    }
    used.push({ topic, role: `${role} of ${applicationId}`, use: isChangelog ? 'changelog' : 'output' });
  }
  return { partitions: expected, byAppendTime: await verifySettings(used, { backend, logger }) };
}

export function partitionsAdded(topic: string, before: number, count: number): StreamsError {
  return new StreamsError(
    'PARTITIONS_DIFFER',
    `The topic ${topic} has ${String(count)} partitions now and had ${String(before)}: keys have moved away from their state and their order. Create a topic with the old count, or migrate to new topics and a new group.`,
  );
}

function writtenTopics({ stores = {}, sinks }: Topology): WrittenTopic[] {
  return [
    ...Object.entries(stores).map(([name, { changelogTopic }]) => ({
      topic: changelogTopic,
      role: `the changelog of the store ${name}`,
      copartitioned: true,
      isChangelog: true,
    })),
    ...Object.entries(sinks).map(([name, { topic, partitioner }]) => ({
      topic,
      role: `the sink ${name}`,
      copartitioned: partitioner === 'source-partition',
      isChangelog: false,
    })),
  ];
}
