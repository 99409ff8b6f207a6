import { consumerGroups, createAvroCodecs, type SchemaRegistryPort } from '@waypost/contracts';
import type { ManagementStore } from '@waypost/management-store';
import { createTaskManager, waitOrAbort, type StreamsBackend } from '@waypost/streams';
import type { ApiLogger } from '../dependencies.js';
import { createOperationsConsumer, type OperationsConsumer } from '../operations/operations-consumer.js';
import { createUntilDatabaseAnswers } from '../operations/until-database-answers.js';
import { createReplayProgressTask, type ReplayProgressTaskDeps } from './replay-progress.task.js';

export interface ReplayProgressSettings {
  readonly backend: StreamsBackend;
  readonly registry: SchemaRegistryPort;
  readonly store: Pick<ManagementStore, 'replays'>;
  /** Static membership of the group; undefined: none. */
  readonly instanceId: string | undefined;
  readonly logger: ApiLogger;
  readonly now: () => number;
}

/** The consumer of the progress of replays on real parts. Nothing connects before it is started. */
export function createReplayProgress(settings: ReplayProgressSettings): OperationsConsumer {
  const { backend, registry, store, instanceId, logger, now } = settings;
  const told = {
    info: (_event: string, fields?: Record<string, unknown>) => {
      logger.info('replay_progress_goes_on', fields);
    },
    warn: (_event: string, fields?: Record<string, unknown>) => {
      logger.warn('replay_progress_waits', fields);
    },
  };
  const deps: ReplayProgressTaskDeps = {
    codec: createAvroCodecs({ registry, now }).replayProgress,
    replays: store.replays,
    logRange: async (partition) => {
      const [start, end] = await Promise.all([backend.startOffset(partition), backend.endOffset(partition)]);
      return { start, end };
    },
    untilDatabaseAnswers: createUntilDatabaseAnswers({ logger: told, wait: waitOrAbort }),
    logger,
  };
  const { id, topics } = consumerGroups.replayProgress;
  return createOperationsConsumer({
    createRunner: (onFatal) =>
      createTaskManager({
        backend,
        groupId: id,
        topics,
        instanceId,
        createTask: (context) => createReplayProgressTask(context, deps),
        logger,
        onFatal,
      }),
    logger: told,
    wait: waitOrAbort,
  });
}
