import { setImmediate as nextTurn } from 'node:timers/promises';
import { missingTopic, readValue, resolveBatch, type SubjectCodec } from '@waypost/contracts';
import { attemptFault, type WebhookAttempt } from '@waypost/domain';
import type { DeliveryProjection, ProjectionProgress } from '@waypost/history-store';
import type { Quarantine, Traces, UnusableRecord } from '@waypost/platform';
import { type PartitionTask, type RecordBatch, StreamsError, type TaskContext } from '@waypost/streams';
import type { ProjectorMetrics } from '../projection/metrics.js';
import { createProjectionTask, type ProjectionTaskTools } from '../projection/projection.task.js';
import { ProjectionSpans } from './projection-spans.js';

export interface AttemptsTaskDeps {
  readonly tools: ProjectionTaskTools;
  readonly codec: SubjectCodec<WebhookAttempt>;
  readonly projection: DeliveryProjection;
  readonly progress: ProjectionProgress;
  readonly metrics: ProjectorMetrics;
  readonly quarantine: Pick<Quarantine, 'put'>;
  /** Epoch milliseconds. */
  readonly nowMs: () => number;
  readonly traces: Traces;
}

/** Projects one partition of the attempt log. */
export function createAttemptsTask(context: TaskContext, deps: AttemptsTaskDeps): PartitionTask {
  const { tools, projection, progress, traces, nowMs } = deps;
  const spans = traces.recorder === null ? null : new ProjectionSpans(traces.recorder, context, nowMs);
  return createProjectionTask(context, {
    ...deps,
    progress: {
      begin: async () => progress.begin(context.topic, await partitionsOf(context.topic, tools)),
      caughtUp: (mark) => progress.caughtUp(mark),
      nowMs,
    },
    decode: (batch) => decodeAttempts(batch, deps, spans),
    projection: {
      readPosition: (topic, partition) => projection.readPosition(topic, partition),
      async apply({ items, ...batch }) {
        const result = await projection.apply({ ...batch, attempts: items });
        if (result.type === 'applied') spans?.written();
        return result;
      },
    },
  });
}

/** A guess could leave out a partition, and the history would be called complete without it: rejects, to be retried. */
async function partitionsOf(topic: string, tools: ProjectionTaskTools): Promise<number> {
  const count = await tools.partitionCount(topic);
  if (count === null) throw new StreamsError('TOPIC_MISSING', missingTopic(topic));
  return count;
}

/** Records decoded per piece. A thousand take some milliseconds; other partitions run between the pieces. */
const RECORDS_IN_A_PIECE = 200;

/** Rejects (to be retried) while the schema registry is needed and down, or the quarantine cannot be written. */
async function decodeAttempts(
  batch: RecordBatch,
  deps: AttemptsTaskDeps,
  spans: ProjectionSpans | null,
): Promise<readonly WebhookAttempt[]> {
  const { codec, quarantine, nowMs } = deps;
  await resolveBatch(codec, batch.records);
  const attempts: WebhookAttempt[] = [];
  const unusable: UnusableRecord[] = [];
  for (const [index, record] of batch.records.entries()) {
    if (index > 0 && index % RECORDS_IN_A_PIECE === 0) await nextTurn();
    const read = readValue(codec, record.value);
    const fault = read.type === 'value' ? attemptFault(read.value, nowMs()) : read;
    if (fault !== null) unusable.push({ record, reason: fault.reason, detail: fault.detail });
    else if (read.type === 'value') {
      attempts.push(read.value);
      spans?.read(record, read.value);
    }
  }
  await quarantine.put(batch, unusable);
  return attempts;
}
