import { consumerGroups, topics } from '@waypost/contracts';
import { createTaskManager, type TaskContext, type TaskManager } from '@waypost/streams';
import { SenderTask } from '../sender.task.js';
import { SENDER_COPARTITIONED } from '../sender.task-factory.js';
import type { SenderDeps } from '../sender-work.js';

export interface SenderOptions extends SenderDeps {
  readonly instanceId?: string | undefined;
  /** Replaces that of the tasks' context. */
  readonly leaveOut?: TaskContext['leaveOut'] | undefined;
  readonly onFatal: (error: Error) => void;
}

/** The sender: one task for each partition of webhook.deliveries that the group gives this process. */
export function createSender({ leaveOut, ...options }: SenderOptions): TaskManager {
  const replaced = leaveOut === undefined ? {} : { leaveOut };
  return createTaskManager({
    backend: options.backend,
    groupId: consumerGroups.sender.id,
    topics: [topics.webhookDeliveries.name],
    copartitioned: SENDER_COPARTITIONED,
    instanceId: options.instanceId,
    createTask: (context) => new SenderTask({ ...context, ...replaced }, options),
    logger: options.logger,
    now: Date.now,
    onFatal: options.onFatal,
  });
}
