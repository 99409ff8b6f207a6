import { consumerGroups, topics } from '@waypost/contracts';
import { createTaskManager, type TaskManager } from '@waypost/streams';
import { createFanOutTask, type FanOutParts } from './fan-out-task.js';

export interface FanOutOptions extends FanOutParts {
  readonly instanceId?: string | undefined;
  readonly onFatal: (error: Error) => void;
}

/** The fan-out: one task for each partition of fleet.events that the group gives this process. */
export function createFanOut(options: FanOutOptions): TaskManager {
  return createTaskManager({
    backend: options.backend,
    groupId: consumerGroups.fanOut.id,
    topics: [topics.fleetEvents.name],
    instanceId: options.instanceId,
    createTask: (context) => createFanOutTask(options, context),
    logger: options.logger,
    onFatal: options.onFatal,
  });
}
