import { readValue, resolveBatch, type SubjectCodec } from '@waypost/contracts';
import { waitingFault, type WebhookDelivery } from '@waypost/domain';
import type { WaitingProjection } from '@waypost/history-store';
import type { PartitionTask, RecordBatch, TaskContext } from '@waypost/streams';
import type { WaitingMetrics } from '../projection/metrics.js';
import { createProjectionTask, type ProjectionTaskTools } from '../projection/projection.task.js';

export interface WaitingDeliveriesTaskDeps {
  readonly tools: ProjectionTaskTools;
  readonly codec: SubjectCodec<WebhookDelivery>;
  readonly projection: WaitingProjection;
  readonly metrics: WaitingMetrics;
  /** Epoch milliseconds. */
  readonly nowMs: () => number;
}

/** Most deliveries are attempted sooner after they were logged, and never become rows without an attempt. */
const PATIENCE_MS = 2_000;
/** How often to check how far the attempts are projected. */
const LOOK_EVERY_MS = 250;

/**
 * Finds the deliveries of one partition that wait for their first attempt. It stays behind the projection of the
 * attempts of the same partition, by the time of the log, so that a rebuild finds hardly more of them than there were.
 */
export function createWaitingDeliveriesTask(context: TaskContext, deps: WaitingDeliveriesTaskDeps): PartitionTask {
  const { projection } = deps;
  return createProjectionTask(context, {
    ...deps,
    decode: async (batch, signal) => {
      await untilProjected(batch, deps, signal);
      return decodeDeliveries(batch, deps);
    },
    projection: {
      readPosition: (topic, partition) => projection.readPosition(topic, partition),
      apply: ({ items, ...batch }) => projection.apply({ ...batch, deliveries: items }),
    },
  });
}

/** @throws when the task is abandoned */
async function untilProjected(
  { partition, records }: RecordBatch,
  { projection, tools }: WaitingDeliveriesTaskDeps,
  signal: AbortSignal,
): Promise<void> {
  const last = records.at(-1);
  if (last === undefined) return;
  for (;;) {
    const until = await tools.database.run(() => projection.attemptsCompleteUntil(partition), signal);
    if (until !== null && until >= last.timestamp + PATIENCE_MS) return;
    await tools.wait(LOOK_EVERY_MS, signal);
    signal.throwIfAborted();
  }
}

/** Skips unreadable records: the sender quarantines them. */
async function decodeDeliveries(
  batch: RecordBatch,
  { codec, nowMs }: WaitingDeliveriesTaskDeps,
): Promise<readonly WebhookDelivery[]> {
  await resolveBatch(codec, batch.records);
  return batch.records.flatMap((record) => {
    const read = readValue(codec, record.value);
    return read.type === 'value' && waitingFault(read.value, nowMs()) === null ? [read.value] : [];
  });
}
