import { randomUUID } from 'node:crypto';
import type { ReadOnlyKeyValueStore, StateStore } from '../state/state-store.js';
import { topicsUsedBy } from '../topology/topics.js';
import {
  invalid,
  type ReadOnlyStoreNames,
  type ReadOnlyStoreOf,
  sourcesOf,
  type StoreDefinitions,
  type Topology,
  undeclared,
} from '../topology/topology.js';
import { GATHER_PER_LINGER, lingerFor } from './linger.js';
import type { TaskContext } from './partition-task.js';
import { StateDirectory } from './state-directory.js';
import { StreamTask } from './stream-task.js';
import { StreamsProducer } from './streams-producer.js';
import { GroupTaskManager, type MemberOptions, type TaskManager } from './task-manager.js';

const DEFAULT_COMMIT_INTERVAL_MS = 500;
const DEFAULT_CHECKPOINT_INTERVAL_MS = 300_000;

export interface StreamsAppOptions<Definitions extends StoreDefinitions = StoreDefinitions> extends MemberOptions {
  readonly topology: Topology<Definitions>;
  /**
   * How much work on a backlog goes into one transaction; default 500 ms. Shorter: outputs are visible earlier, and a
   * crash repeats less. Longer: fewer transactions, and fewer writes of keys that change often. At the end of the log
   * records are committed as soon as they are processed.
   */
  readonly commitIntervalMs?: number | undefined;
  /**
   * How long a partition waits at most after a commit of few records before it fetches again; default 1.2 ms per
   * partition of the source, from 10 to 500 ms. The first record after a longer silence is committed at once; in a steady stream records
   * wait up to this long for each other. With many partitions and little traffic on each, small transactions are most
   * of the brokers' work.
   */
  readonly lingerMs?: number | undefined;
  /** For checkpoints, so that a restart reads only the tails of changelogs; default none. One process may use it. */
  readonly stateDir?: string | undefined;
  /** Default 5 minutes; a graceful stop writes another checkpoint. */
  readonly checkpointIntervalMs?: number | undefined;
}

export interface StreamsApp<Definitions extends StoreDefinitions> extends TaskManager {
  /**
   * Reads a store of the partitions assigned to this process: committed entries, and during a restore those restored so
   * far. A key of another process's partition is not found. Only key-value stores have such a view.
   */
  readOnlyStore<Name extends ReadOnlyStoreNames<Definitions>>(name: Name): ReadOnlyStoreOf<Definitions[Name]>;
}

/** Runs a topology with one exactly-once task per source partition that the group assigns to this process. */
export function createStreamsApp<Definitions extends StoreDefinitions>(
  options: StreamsAppOptions<Definitions>,
): StreamsApp<Definitions> {
  const { topology, backend, logger, now } = options;
  const { commitIntervalMs = DEFAULT_COMMIT_INTERVAL_MS } = options;
  const { checkpointIntervalMs = DEFAULT_CHECKPOINT_INTERVAL_MS } = options;
  const topics = sourcesOf(topology);
  const states = new StateDirectory({ ...options, checkpointIntervalMs });
  const lingerMs = (): number => options.lingerMs ?? lingerFor(manager.partitionCounts.get(topics[0]) ?? 0);
  const producer = new StreamsProducer({
    backend,
    newTransactionalId: () => `${topology.applicationId}.${randomUUID()}`,
    gatherMs: () => lingerMs() / GATHER_PER_LINGER,
  });
  const onTimestamp = (topic: string): void => {
    if (manager.byAppendTime.delete(topic))
      logger.warn('forwarded_timestamp_ignored', { topic, cause: 'Its message.timestamp.type is LogAppendTime.' });
  };
  const createTask = (context: TaskContext): StreamTask => {
    const stores = states.of(context.partition);
    const times = { commitIntervalMs, lingerMs: lingerMs(), now };
    return new StreamTask({ topology, context, stores, backend, producer, onTimestamp, ...times });
  };
  const readsNewPartitions = isIndependentOfPartitions(topology);
  const groupId = topology.applicationId;
  const manager = new GroupTaskManager(
    { ...options, groupId, topics, joinsTopics: topics.length > 1, readsNewPartitions, createTask },
    topicsUsedBy(topology),
  );
  return {
    start: () => manager.start(),
    ready: () => manager.ready(),
    tasks: () => manager.tasks(),
    command: (partition, command) => manager.command(partition, command),
    unrestored: () => states.remaining(),
    readOnlyStore: (name) => {
      if (!Object.hasOwn(topology.stores ?? {}, name)) throw undeclared('store', name, topology);
      return readOnlyStore(() => states.byName(name)) as ReadOnlyStoreOf<Definitions[typeof name]>;
    },
    stop: async () => {
      states.stop();
      await manager.stop();
      await producer.close();
      await states.close();
    },
  };
}

function isIndependentOfPartitions({ source, stores = {}, sinks }: Topology): boolean {
  const writesOwnPartition = Object.values(sinks).some(({ partitioner }) => partitioner === 'source-partition');
  return Object.keys(stores).length === 0 && !writesOwnPartition && sourcesOf({ source }).length === 1;
}

/** The partitions may change between two calls. */
function readOnlyStore(stores: () => readonly StateStore[]): ReadOnlyKeyValueStore<unknown> {
  const views = () =>
    stores().map((store) => {
      if (!store.readOnly) throw invalid('This store has no view for readers outside of its processor.');
      return store.readOnly();
    });
  return {
    get: (key) =>
      views()
        .map((view) => view.get(key))
        .find((value) => value !== undefined),
    *entries() {
      for (const view of views()) yield* view.entries();
    },
  };
}
