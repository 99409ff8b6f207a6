import { setTimeout as sleep } from 'node:timers/promises';
import { consumerGroups } from '@waypost/contracts';
import type { KafkaSettings } from '@waypost/streams';
import { openGroupProgress, type PartitionProgress } from '@waypost/streams';
import type { ProcessorInstance } from '../processors/processor-instance.js';

const POLL_MS = 400;
/** Longer than any pause and what follows from it. */
const PROGRESS_TIMEOUT_MS = 45_000;

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

/** Waits until something more is committed, or for a while. Resolves with the time that it took. */
export async function untilProgress(kafka: KafkaSettings): Promise<number> {
  const startedAt = performance.now();
  let before: number | null = null;
  for (;;) {
    const elapsedMs = performance.now() - startedAt;
    const position = await committedPosition(kafka);
    if (elapsedMs > PROGRESS_TIMEOUT_MS || (position !== null && before !== null && position > before))
      return elapsedMs;
    before ??= position;
    await sleep(POLL_MS);
  }
}

async function committedPosition(kafka: KafkaSettings): Promise<number | null> {
  const progress = await readProgress(kafka).catch(() => null);
  return progress === null ? null : progress.reduce((sum, { committedOffset }) => sum + (committedOffset ?? 0), 0);
}

export interface Drained {
  /** From the call until everything was committed and every processor was ready; null: it did not come to that. */
  readonly afterMs: number | null;
  readonly problems: readonly string[];
}

/** Everything committed, every processor that is meant to run alive and ready: within the time, or somebody is stuck. */
export async function waitUntilDrained(
  kafka: KafkaSettings,
  processors: readonly ProcessorInstance[],
  withinMs: number,
): Promise<Drained> {
  const startedAt = performance.now();
  for (;;) {
    const problems = await whatIsLeft(kafka, processors);
    const afterMs = performance.now() - startedAt;
    if (problems.length === 0) return { afterMs, problems };
    if (afterMs > withinMs) return { afterMs: null, problems: problems.map((one) => `stuck: ${one}`) };
    await sleep(POLL_MS);
  }
}

async function whatIsLeft(kafka: KafkaSettings, processors: readonly ProcessorInstance[]): Promise<string[]> {
  const lag = await inputLag(kafka);
  const problems = await Promise.all(
    processors.map(async (processor) => {
      const problem = await processor.problem();
      return problem === null ? [] : [`instance ${String(processor.instance)} is ${problem}`];
    }),
  );
  const behind = lag === 0 ? [] : [`${lag === null ? 'an unknown number of' : String(lag)} records are not committed`];
  return [...behind, ...problems.flat()];
}

function lagOf(progress: readonly PartitionProgress[]): number {
  return progress.reduce(
    (sum, { startOffset, endOffset, committedOffset }) => sum + endOffset - (committedOffset ?? startOffset),
    0,
  );
}
