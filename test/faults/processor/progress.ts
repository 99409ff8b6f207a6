import { consumerGroups } from '@waypost/contracts';
import { openGroupProgress, type PartitionProgress } from '@waypost/platform/without-nest';
import type { KafkaSettings } from '@waypost/streams';
import { until } from '../../support/until.js';
import { type AppInstance, unreadyInstances } from '../shared/app-instance.js';

type ConsumerGroup = (typeof consumerGroups)[keyof typeof consumerGroups];

/** Input records that a group has not committed yet; null while no broker answers. */
export async function inputLag(
  kafka: KafkaSettings,
  group: ConsumerGroup = consumerGroups.telemetryProcessor,
): Promise<number | null> {
  const progress = await readProgress(kafka, group);
  if (progress === null) return null;
  return sum(progress, ({ startOffset, endOffset, committedOffset }) => endOffset - (committedOffset ?? startOffset));
}

/** Of all partitions together; null while no broker answers. */
export async function committedPosition(kafka: KafkaSettings): Promise<number | null> {
  const progress = await readProgress(kafka, consumerGroups.telemetryProcessor);
  return progress === null ? null : sum(progress, ({ committedOffset }) => committedOffset ?? 0);
}

/** By partition; one without a committed offset is not in it. */
export async function committedPositions(kafka: KafkaSettings): Promise<Map<number, number>> {
  const progress = await until(async () => (await readProgress(kafka, consumerGroups.telemetryProcessor)) ?? false);
  return new Map(
    progress.flatMap(({ partition, committedOffset }) =>
      committedOffset === null ? [] : [[partition, committedOffset]],
    ),
  );
}

/** Input that is not committed, and processors that are meant to run and are not ready. */
export async function whatIsLeft(kafka: KafkaSettings, processors: readonly AppInstance[]): Promise<string[]> {
  const lag = await inputLag(kafka);
  const behind = lag === 0 ? [] : [`${lag === null ? 'an unknown number of' : String(lag)} records are not committed`];
  return [...behind, ...(await unreadyInstances(processors))];
}

async function readProgress(kafka: KafkaSettings, group: ConsumerGroup): Promise<PartitionProgress[] | null> {
  try {
    const reader = await openGroupProgress(kafka);
    try {
      return await reader.read([group]);
    } finally {
      await reader.close();
    }
  } catch {
    return null;
  }
}

function sum(progress: readonly PartitionProgress[], valueOf: (one: PartitionProgress) => number): number {
  return progress.reduce((total, one) => total + valueOf(one), 0);
}
