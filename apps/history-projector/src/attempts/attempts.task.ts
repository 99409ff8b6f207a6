import { setImmediate as nextTurn } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import { type AvroCodecs, resolveBatch, type SubjectCodec } from '@waypost/contracts';
import type { WebhookAttempt } from '@waypost/domain';
import type { DeliveryProjection } from '@waypost/history-store';
import { CODECS, type PartitionTaskFactory } from '@waypost/platform';
import { partitionName, type PartitionTask, type RecordBatch, type TaskContext } from '@waypost/streams';
import type { ProjectorMetrics } from '../projection/metrics.js';
import { createProjectionTask, PROJECTION_TOOLS, type ProjectionTaskTools } from '../projection/projection.task.js';

export interface AttemptsTaskDeps extends ProjectionTaskTools {
  readonly codec: SubjectCodec<WebhookAttempt>;
  readonly projection: DeliveryProjection;
  readonly metrics: ProjectorMetrics;
}

/** Projects one partition of the attempts log. */
export function createAttemptsTask(context: TaskContext, deps: AttemptsTaskDeps): PartitionTask {
  const { codec, projection, onFatal } = deps;

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
  });
}

/** DeliveryProjection */
export const DELIVERY_PROJECTION = Symbol('DELIVERY_PROJECTION');
/** ProjectorMetrics */
export const PROJECTOR_METRICS = Symbol('PROJECTOR_METRICS');

@Injectable()
export class AttemptTasks implements PartitionTaskFactory {
  constructor(
    @Inject(PROJECTION_TOOLS) private readonly tools: ProjectionTaskTools,
    @Inject(CODECS) private readonly codecs: AvroCodecs,
    @Inject(DELIVERY_PROJECTION) private readonly projection: DeliveryProjection,
    @Inject(PROJECTOR_METRICS) private readonly metrics: ProjectorMetrics,
  ) {}

  create(context: TaskContext): PartitionTask {
    const { tools, projection, metrics } = this;
    return createAttemptsTask(context, { ...tools, codec: this.codecs.webhookAttempts, projection, metrics });
  }
}

type DecodedBatch =
  | { readonly type: 'decoded'; readonly attempts: readonly WebhookAttempt[] }
  /** A record that is not an attempt. Only this system writes the log, so there is nothing to go on with. */
  | { readonly type: 'undecodable'; readonly where: string; readonly detail: string };

/** Decoding a thousand takes some milliseconds; other partitions run between the pieces. */
const RECORDS_IN_A_PIECE = 200;

/** Rejects (to be tried again) while the schema registry is needed and away. */
async function decodeAttempts(batch: RecordBatch, codec: SubjectCodec<WebhookAttempt>): Promise<DecodedBatch> {
  await resolveBatch(codec, batch.records);
  const attempts: WebhookAttempt[] = [];
  for (const [index, record] of batch.records.entries()) {
    if (index > 0 && index % RECORDS_IN_A_PIECE === 0) await nextTurn();
    const result = record.value === null ? null : codec.decode(record.value);
    if (result?.type !== 'decoded') {
      const where = `${partitionName(batch)} at offset ${String(record.offset)}`;
      return { type: 'undecodable', where, detail: JSON.stringify(result ?? { type: 'no_value' }) };
    }
    attempts.push(result.value);
  }
  return { type: 'decoded', attempts };
}
