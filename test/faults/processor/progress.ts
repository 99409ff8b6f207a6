import { consumerGroups } from '@waypost/contracts';
import type { KafkaSettings } from '@waypost/streams';
import { openGroupProgress, type PartitionProgress } from '@waypost/streams';
import { type AppInstance, unreadyInstances } from '../shared/app-instance.js';
import { drain, type Drained } from '../shared/fault-run.js';

/** Input records that are not committed yet; null while nobody can tell. */
export async function inputLag(kafka: KafkaSettings): Promise<number | null> {
  const progress = await readProgress(kafka).catch(() => null);
  return progress === null ? null : lagOf(progress);
}

export async function readProgress(kafka: KafkaSettings): Promise<PartitionProgress[]> {
  const reader = await openGroupProgress(kafka);
  try {
    return await reader.read([consumerGroups.telemetryProcessor]);
  } finally {
    await reader.close();
  }
}

/** Of all partitions together; null while no broker answers. */
export async function committedPosition(kafka: KafkaSettings): Promise<number | null> {
  const progress = await readProgress(kafka).catch(() => null);
  return progress === null ? null : progress.reduce((sum, { committedOffset }) => sum + (committedOffset ?? 0), 0);
}

/** Waits until all input is committed and every processor that is meant to run is ready. */
export function drainInput(
  kafka: KafkaSettings,
  processors: readonly AppInstance[],
  withinMs: number,
): Promise<Drained> {
  return drain(async () => {
    const lag = await inputLag(kafka);
    const behind =
      lag === 0 ? [] : [`${lag === null ? 'an unknown number of' : String(lag)} records are not committed`];
    return [...behind, ...(await unreadyInstances(processors))];
  }, withinMs);
}

function lagOf(progress: readonly PartitionProgress[]): number {
  return progress.reduce(
    (sum, { startOffset, endOffset, committedOffset }) => sum + endOffset - (committedOffset ?? startOffset),
    0,
  );
}
