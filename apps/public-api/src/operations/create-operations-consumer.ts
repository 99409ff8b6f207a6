import { consumerGroups, createAvroCodecs, type SchemaRegistryPort } from '@waypost/contracts';
import type { ManagementStore } from '@waypost/management-store';
import { createTaskManager, waitOrAbort, type StreamsBackend } from '@waypost/streams';
import type { ApiLogger } from '../dependencies.js';
import { createOperationsConsumer, type OperationsConsumer } from './operations-consumer.js';
import { createOperationsTrim } from './operations-trim.js';
import { createOperationsTask, type OperationsTaskDeps } from './operations.task.js';
import { createUntilDatabaseAnswers } from './until-database-answers.js';

export interface OperationsSettings {
  readonly backend: StreamsBackend;
  readonly registry: SchemaRegistryPort;
  readonly store: Pick<ManagementStore, 'subscriptions' | 'operations'>;
  /** Static membership of the group; undefined: none. */
  readonly instanceId: string | undefined;
  readonly logger: ApiLogger;
  readonly now: () => number;
}

/** The consumer of `webhook.operations` on real parts. Nothing connects before it is started. */
export function createOperations(settings: OperationsSettings): OperationsConsumer {
  const { backend, registry, store, instanceId, logger, now } = settings;
  const deps: OperationsTaskDeps = {
    codec: createAvroCodecs({ registry, now }).webhookOperations,
    store,
    logRange: async (partition) => {
      const [start, end] = await Promise.all([backend.startOffset(partition), backend.endOffset(partition)]);
      return { start, end };
    },
    untilDatabaseAnswers: createUntilDatabaseAnswers({ logger, wait: waitOrAbort }),
    trim: createOperationsTrim(store.operations, now),
    logger,
    now,
  };
  return createOperationsConsumer({
    createRunner: (onFatal) =>
      createTaskManager({
        backend,
        groupId: consumerGroups.subscriptionOperations.id,
        topics: consumerGroups.subscriptionOperations.topics,
        instanceId,
        createTask: (context) => createOperationsTask(context, deps),
        logger,
        onFatal,
      }),
    logger,
    wait: waitOrAbort,
  });
}
