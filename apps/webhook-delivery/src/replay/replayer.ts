import { consumerGroups, topics } from '@waypost/contracts';
import { createTaskManager, type TaskManager } from '@waypost/streams';
import { createReplayTask, type ReplayTaskParts } from './replay-task.js';

export interface ReplayerOptions extends ReplayTaskParts {
  readonly instanceId?: string | undefined;
  readonly onFatal: (error: Error) => void;
}

/** The replayer: one task for each partition of webhook.replays that the group gives this process. */
export function createReplayer(options: ReplayerOptions): TaskManager {
  return createTaskManager({
    backend: options.backend,
    groupId: consumerGroups.replayer.id,
    topics: [topics.webhookReplays.name],
    copartitioned: [topics.replayProgress.name, topics.webhookDeliveries.name, topics.webhookAttempts.name],
    instanceId: options.instanceId,
    createTask: (context) => createReplayTask(options, context),
    logger: options.logger,
    onFatal: options.onFatal,
  });
}
