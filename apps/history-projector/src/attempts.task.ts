import type { SubjectCodec } from '@waypost/contracts';
import type { WebhookAttempt } from '@waypost/domain';
import type { DeliveryProjection } from '@waypost/history-store';
import type { PartitionTask, RecordBatch, TaskContext } from '@waypost/streams';
import { decodeAttempts } from './decode-attempts.js';
import { createProjectionTask, type ProjectionTaskTools } from './projection.task.js';
import type { ProjectorMetrics } from './projector-metrics.js';

export interface AttemptsTaskDeps extends ProjectionTaskTools {
  readonly codec: SubjectCodec<WebhookAttempt>;
  readonly projection: DeliveryProjection;
  readonly metrics: ProjectorMetrics;
}

/** Projects one partition of the attempts log. */
export function createAttemptsTask(context: TaskContext, deps: AttemptsTaskDeps): PartitionTask {
  const { codec, projection, metrics, onFatal } = deps;

  async function decode(batch: RecordBatch): Promise<readonly WebhookAttempt[]> {
    const decoded = await decodeAttempts(batch, codec);
    if (decoded.type === 'decoded') return decoded.attempts;
    const error = new Error(`${decoded.where} holds no attempt: ${decoded.detail}.`);
    onFatal(error);
    throw error;
  }

  return createProjectionTask(context, {
    ...deps,
    decode,
    projection: {
      readPosition: (topic, partition) => projection.readPosition(topic, partition),
      apply: ({ items, ...batch }) => projection.apply({ ...batch, attempts: items }),
    },
    metrics: {
      ...metrics,
      batchApplied: ({ items, ...batch }) => {
        metrics.batchApplied({ attempts: items, ...batch });
      },
    },
  });
}
