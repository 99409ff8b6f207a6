import type { StreamsBackend } from '../backend/backend.js';
import type { StreamsLogger } from '../logger.js';
import { copartitionedTopics, type Topology } from '../topology/topology.js';
import { createStreamTask } from './stream-task.js';
import { createTaskRunner, type TaskRunner } from './task-runner.js';

export interface StreamsAppOptions {
  readonly topology: Topology;
  readonly backend: StreamsBackend;
  readonly instanceId?: string | undefined;
  readonly sessionTimeoutMs?: number;
  readonly logger: StreamsLogger;
  readonly now: () => number;
  readonly onFatal: (error: Error) => void;
}

/** Runs a topology: one exactly-once task for each partition of the source that the group gives this process. */
export const createStreamsApp = (options: StreamsAppOptions): TaskRunner => {
  const { topology, backend, logger, now } = options;
  return createTaskRunner({
    ...options,
    groupId: topology.applicationId,
    topics: [topology.source],
    copartitioned: copartitionedTopics(topology),
    createTask: (context) => createStreamTask({ topology, context, backend, logger, now }),
  });
};
