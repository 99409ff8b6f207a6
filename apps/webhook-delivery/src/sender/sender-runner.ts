import { consumerGroups, topics } from '@waypost/contracts';
import { createTaskManager, type TaskManager } from '@waypost/streams';
import { createDeliveryTask, type DeliveryTaskParts } from './delivery-task.js';

export interface SenderOptions extends DeliveryTaskParts {
  readonly instanceId?: string | undefined;
  readonly onFatal: (error: Error) => void;
}

/** The sender: one task for each partition of webhook.deliveries that the group gives this process. */
export function createSender(options: SenderOptions): TaskManager {
  return createTaskManager({
    backend: options.backend,
    groupId: consumerGroups.sender.id,
    topics: [topics.webhookDeliveries.name],
    copartitioned: [topics.webhookAttempts.name, topics.subscriptionState.name, topics.webhookOperations.name],
    instanceId: options.instanceId,
    createTask: (context) => createDeliveryTask(options, context),
    logger: options.logger,
    onFatal: options.onFatal,
  });
}
