import type { StreamsBackend } from '../backend/backend.js';
import { StreamsError } from '../errors.js';
import { checkTopology, type Topology } from './topology.js';

/** A topic that a topology writes, and what for. */
interface WrittenTopic {
  readonly topic: string;
  readonly role: string;
  /** A task writes the partition of its own number, so there must be as many as the source has (G14). */
  readonly copartitioned: boolean;
  readonly settings: string;
}

/**
 * Looks at the topology and at every topic of it before the first task is built.
 * @throws {StreamsError} INVALID_TOPOLOGY, TOPIC_MISSING, PARTITIONS_DIFFER: which topic, and how to create it
 */
export async function verifyTopics(topology: Topology, backend: Pick<StreamsBackend, 'partitionCount'>): Promise<void> {
  // Also one that did not come through createTopology().
  checkTopology(topology);
  const { applicationId, source } = topology;
  const expected = await backend.partitionCount(source);
  if (expected === null) {
    throw new StreamsError(
      'TOPIC_MISSING',
      `The topic ${source}, the source of ${applicationId}, does not exist: create it before the application starts.`,
    );
  }
  for (const { topic, role, copartitioned, settings } of writtenTopics(topology)) {
    const count = await backend.partitionCount(topic);
    const partitions = copartitioned ? ` with ${String(expected)} partitions (as many as ${source} has)` : '';
    if (count === null) {
      throw new StreamsError(
        'TOPIC_MISSING',
        `The topic ${topic}, ${role} of ${applicationId}, does not exist: create it${partitions}${settings}.`,
      );
    }
    if (copartitioned && count !== expected) {
      throw new StreamsError(
        'PARTITIONS_DIFFER',
        `The topic ${topic}, ${role} of ${applicationId}, has ${String(count)} partitions and ${source} has ${String(expected)}: a task writes the partition of its own number, so create ${topic}${partitions}.`,
      );
    }
  }
}

function writtenTopics({ stores = {}, sinks }: Topology): WrittenTopic[] {
  return [
    ...Object.entries(stores).map(([name, { changelogTopic }]) => ({
      topic: changelogTopic,
      role: `the changelog of the store ${name}`,
      copartitioned: true,
      settings: ' and cleanup.policy=compact',
    })),
    ...Object.entries(sinks).map(([name, { topic, partitioner }]) => ({
      topic,
      role: `the sink ${name}`,
      copartitioned: partitioner === 'source-partition',
      settings: '',
    })),
  ];
}
