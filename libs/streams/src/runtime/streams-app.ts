import type { StreamsBackend } from '../backend/backend.js';
import type { StreamsLogger } from '../logger.js';
import type { KeyValueStore, ReadOnlyKeyValueStore } from '../state/key-value-store.js';
import type { StateStore } from '../state/state-store.js';
import { verifyTopics } from '../topology/topics.js';
import {
  invalid,
  type ReadOnlyStoreNames,
  type ReadOnlyStoreOf,
  sourcesOf,
  type StoreDefinitions,
  type Topology,
  undeclared,
} from '../topology/topology.js';
import { lingerFor } from './linger.js';
import type { ExceptionHandlers } from './parking.js';
import type { PartitionTask } from './partition-task.js';
import { StateDirectory } from './state-directory.js';
import { StreamTask } from './stream-task.js';
import { createTaskManager, type StateListener, type TaskManager } from './task-manager.js';

const DEFAULT_COMMIT_INTERVAL_MS = 500;
const DEFAULT_CHECKPOINT_INTERVAL_MS = 300_000;

export interface StreamsAppOptions<Definitions extends StoreDefinitions = StoreDefinitions> extends ExceptionHandlers {
  readonly topology: Topology<Definitions>;
  readonly backend: StreamsBackend;
  readonly instanceId?: string | undefined;
  readonly sessionTimeoutMs?: number | undefined;
  /**
   * How much work on a backlog goes into one transaction; default 500 ms. Shorter: outputs are visible earlier, and a
   * crash repeats less. Longer: fewer transactions, and fewer writes of keys that change often. At the end of the log
   * records are committed as soon as they are processed.
   */
  readonly commitIntervalMs?: number | undefined;
  /**
   * How long a partition waits after a commit of few records before it fetches again; default 1 ms per partition of the
   * source, from 10 to 500 ms. The first record after a longer silence is committed at once; in a steady stream records
   * wait up to this long for each other. With many partitions and little traffic on each, small transactions are most
   * of the brokers' work.
   */
  readonly lingerMs?: number | undefined;
  /** For checkpoints, so that a restart reads only the tails of changelogs; default none. One process may use it. */
  readonly stateDir?: string | undefined;
  /** Default 5 minutes; a graceful stop writes another checkpoint. */
  readonly checkpointIntervalMs?: number | undefined;
  /** Wraps each task, e.g. to measure its batches. revoke() must stay synchronous. */
  readonly wrapTask?: ((task: PartitionTask) => PartitionTask) | undefined;
  /** Called at each change of the state of this process, from within the runtime: return soon, and never throw. */
  readonly onStateChange?: StateListener | undefined;
  readonly logger: StreamsLogger;
  readonly now: () => number;
  /** In [0, 1): spreads the retries of parked partitions; default: they are not spread. */
  readonly random?: (() => number) | undefined;
  readonly onFatal: (error: Error) => void;
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
  const { topology, backend, stateDir, logger, now } = options;
  const { commitIntervalMs = DEFAULT_COMMIT_INTERVAL_MS, wrapTask = (task: PartitionTask) => task } = options;
  const { checkpointIntervalMs = DEFAULT_CHECKPOINT_INTERVAL_MS } = options;
  let lingerMs = options.lingerMs ?? 0;
  let byAppendTime = new Set<string>();
  const onTimestamp = (topic: string): void => {
    if (byAppendTime.delete(topic))
      logger.warn('forwarded_timestamp_ignored', { topic, cause: 'Its message.timestamp.type is LogAppendTime.' });
  };
  const stateDirectory = new StateDirectory({ topology, backend, stateDir, checkpointIntervalMs, logger, now });
  const runner = createTaskManager({
    ...options,
    groupId: topology.applicationId,
    topics: sourcesOf(topology),
    joinsTopics: sourcesOf(topology).length > 1,
    counted: Object.values(topology.sinks).flatMap(({ topic, partitioner }) => (partitioner === 'key' ? topic : [])),
    readsNewPartitions: isIndependentOfPartitions(topology),
    createTask: (context) => {
      const stores = stateDirectory.of(context.partition);
      const settings = { commitIntervalMs, lingerMs };
      return wrapTask(new StreamTask({ topology, context, stores, backend, onTimestamp, ...settings, now }));
    },
  });
  return {
    ready: () => runner.ready(),
    tasks: () => runner.tasks(),
    command: (partition, command) => runner.command(partition, command),
    unrestored: () => stateDirectory.remaining(),
    readOnlyStore: (name) => {
      const names = Object.keys(topology.stores ?? {});
      if (!names.includes(name)) throw undeclared('store', name, topology.applicationId, names);
      return readOnlyStore(() => stateDirectory.byName(name)) as ReadOnlyStoreOf<Definitions[typeof name]>;
    },
    start: async () => {
      const verified = await verifyTopics(topology, backend, logger);
      ({ byAppendTime } = verified);
      lingerMs = options.lingerMs ?? lingerFor(verified.partitions);
      await runner.start();
    },
    stop: async () => {
      stateDirectory.stop();
      await runner.stop();
      await stateDirectory.close();
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
      if (!isKeyValueStore(store)) throw invalid('Only a store of keyValueStore() can be read from outside.');
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

function isKeyValueStore(store: StateStore): store is StateStore & KeyValueStore<unknown> {
  return 'readOnly' in store;
}
