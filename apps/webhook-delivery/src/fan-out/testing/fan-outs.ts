import { consumerGroups, resolveBatch, type SubjectCodec, topics } from '@waypost/contracts';
import { createTaskManager, readToEnd, type StreamsBackend, type TaskManager } from '@waypost/streams';
import { createFanOutTask, type FanOutParts } from '../fan-out-task.js';

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

/** What is in the log of a topic, with the partition of each. @throws when a record cannot be decoded */
export async function valuesOf<T>(
  backend: StreamsBackend,
  codec: SubjectCodec<T>,
  topic: string,
  partitions: number,
): Promise<(T & { partition: number })[]> {
  const found: (T & { partition: number })[] = [];
  const fetcher = backend.fetcher();
  for (let partition = 0; partition < partitions; partition++) {
    await readToEnd(backend, fetcher, { topic, partition }, 0, async ({ records }) => {
      await resolveBatch(codec, records);
      for (const { value } of records) {
        const decoded = codec.decode(value ?? Buffer.alloc(0));
        if (decoded.type !== 'decoded') throw new Error(decoded.type);
        found.push({ ...decoded.value, partition });
      }
    });
  }
  return found;
}
