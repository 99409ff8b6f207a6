import type { StreamsBackend } from '../backend/backend.js';
import type { StreamsLogger } from '../logger.js';
import type { Topology } from '../topology/topology.js';
import { verifyTopics } from '../topology/verify-topics.js';
import { StateDirectory } from './state-directory.js';
import { createStreamTask } from './stream-task.js';
import { createTaskManager, type TaskManager } from './task-manager.js';

const DEFAULT_COMMIT_INTERVAL_MS = 500;
const DEFAULT_LINGER_MS = 10;
const DEFAULT_CHECKPOINT_INTERVAL_MS = 300_000;

export interface StreamsAppOptions {
  readonly topology: Topology;
  readonly backend: StreamsBackend;
  readonly instanceId?: string | undefined;
  readonly sessionTimeoutMs?: number;
  /**
   * How much of a backlog goes into one transaction, 500 ms of work unless given. Short: its outputs are seen earlier, and
   less is done again after a crash; long: fewer transactions, and a key that changes often is written once for more
   changes. At the end of the log nothing waits for it: what came is committed when it is worked through.
   */
  readonly commitIntervalMs?: number;
  /**
   * How long a partition waits after a commit of few records before it asks for more, 10 unless given. A record that
   * comes after a longer silence is committed at once; in a stream of them each waits for company up to this long, and
   * the brokers get fewer transactions.
   */
  readonly lingerMs?: number;
  /**
   * A directory for checkpoints of the stores, so that a restart reads only the changelogs' tails; none unless given.
   * It belongs to one process at a time.
   */
  readonly stateDir?: string | undefined;
  /** From one checkpoint to the next, 5 minutes unless given; another is written at a graceful stop. */
  readonly checkpointIntervalMs?: number;
  readonly logger: StreamsLogger;
  readonly now: () => number;
  readonly onFatal: (error: Error) => void;
}

/** Runs a topology: one exactly-once task for each partition of the source that the group gives this process. */
export function createStreamsApp(options: StreamsAppOptions): TaskManager {
  const { topology, backend, stateDir, logger, now } = options;
  const { commitIntervalMs = DEFAULT_COMMIT_INTERVAL_MS, lingerMs = DEFAULT_LINGER_MS } = options;
  const { checkpointIntervalMs = DEFAULT_CHECKPOINT_INTERVAL_MS } = options;
  const stateDirectory = new StateDirectory({ topology, backend, stateDir, checkpointIntervalMs, logger, now });
  const runner = createTaskManager({
    ...options,
    groupId: topology.applicationId,
    topics: [topology.source],
    createTask: (context) => {
      const stores = stateDirectory.of(context.partition);
      const release = (): void => {
        stateDirectory.release(context.partition, stores);
      };
      const settings = { commitIntervalMs, lingerMs };
      return createStreamTask({ topology, context, stores, release, backend, ...settings, now });
    },
  });
  return {
    start: async () => {
      await verifyTopics(topology, backend);
      await runner.start();
    },
    stop: async () => {
      stateDirectory.stop();
      await runner.stop();
      await stateDirectory.close();
    },
    ready: () => runner.ready(),
  };
}
