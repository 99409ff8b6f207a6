import type { Admin } from 'kafkajs';
import { allTopics, setUpKafka, type TopicName, topics } from '@waypost/contracts';
import { openTopicAdmin } from '@waypost/streams';
import { waitUntil } from '../../../tools/dev-stack/processes/wait-until.js';
import { type BenchStack, PARTITIONS } from '../../shared/stack/bench-stack.js';

export const INPUT = topics.telemetryPings.name;
export const OUTPUT = topics.fleetEvents.name;
/** What a run of ours writes. Kafka Streams writes its events to the same topic and its changelog to one of its own. */
const WRITTEN: readonly TopicName[] = [OUTPUT, topics.telemetryRejected.name, topics.deviceState.name];

const ALL = allTopics.map(({ name }) => name);

const WAIT_MS = 60_000;

/** What fleets have asked for. */
const OF_FLEETS: readonly TopicName[] = [topics.fleetGeofences.name, topics.fleetSettings.name];

export type BenchTopics = ReturnType<typeof createBenchTopics>;

/** Topics in the state that a measurement begins with. */
export function createBenchTopics(stack: BenchStack, admin: Admin) {
  /** All topics of the product that are missing, and its schemas. */
  async function setUp(partitions = PARTITIONS): Promise<void> {
    const topicAdmin = await openTopicAdmin(stack.kafka);
    try {
      const { registryUrl } = stack;
      await setUpKafka({ admin: topicAdmin, registryUrl, partitions, replicationFactor: 1 });
    } finally {
      await topicAdmin.close();
    }
  }

  async function deleteTopics(names: readonly string[]): Promise<void> {
    const present = (await admin.listTopics()).filter((name) => names.includes(name));
    if (present.length > 0) await admin.deleteTopics({ topics: present });
    await waitUntil(
      async () => {
        const left = (await admin.listTopics()).filter((name) => names.includes(name));
        if (left.length > 0) throw new Error(`These topics are still there: ${left.join(', ')}`);
      },
      { timeoutMs: WAIT_MS },
    );
  }

  async function recreate(names: readonly string[], partitions = PARTITIONS): Promise<void> {
    await deleteTopics(names);
    await setUp(partitions);
  }

  return {
    setUp: () => setUp(),
    /** Empties what is written by the measured applications. */
    freshOutputs: () => recreate(WRITTEN),
    freshInput: () => recreate([INPUT]),
    /** Empties everything. All topics of an installation have as many partitions. */
    freshWidth: (partitions = PARTITIONS) => recreate(ALL, partitions),
    freshFleets: () => recreate(OF_FLEETS),
    async deleteWithPrefix(prefix: string) {
      await deleteTopics((await admin.listTopics()).filter((name) => name.startsWith(prefix)));
    },
    /** Records in the input. */
    async inputSize() {
      const partitions = await admin.fetchTopicOffsets(INPUT);
      return partitions.reduce((sum, { low, high }) => sum + Number(high) - Number(low), 0);
    },
  };
}
