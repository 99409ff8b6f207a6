import { setTimeout as sleep } from 'node:timers/promises';
import { allConsumerGroups } from '@waypost/contracts';
import { openGroupProgress, type GroupProgressReader, type PartitionProgress } from '@waypost/streams';
import { CliError } from '../cli-error.js';
import { createIdleDetector, describeLag } from '../idle-detector.js';
import { kafkaSettings } from '../stack/kafka-settings.js';
import { stackEnvironment } from '../stack/stack-config.js';
import type { Terminal } from '../terminal/output.js';
import { createStatusLine } from '../terminal/progress.js';

export interface WaitOptions {
  readonly dataDir: string;
  readonly idleMs: number;
  readonly now: () => number;
}

const longestPollMs = 500;
const shortestPollMs = 50;
/** Coordinators move and brokers restart; what lasts longer than this is an outage. */
const failingForMs = 60_000;

/** Returns when every group has finished everything in the log, and found nothing more for `idleMs`. */
export async function waitUntilIdle(terminal: Terminal, options: WaitOptions): Promise<void> {
  const stack = await stackEnvironment(options.dataDir);
  const reader = await openGroupProgress(kafkaSettings(stack));
  const status = createStatusLine(terminal);
  try {
    await pollUntilIdle(reader, options, (text) => {
      status.show(text);
    });
  } finally {
    status.clear();
    await reader.close();
  }
}

async function pollUntilIdle(
  reader: GroupProgressReader,
  { idleMs, now }: WaitOptions,
  show: (text: string) => void,
): Promise<void> {
  const detector = createIdleDetector(idleMs);
  const pollMs = Math.min(longestPollMs, Math.max(shortestPollMs, idleMs / 4));
  let failingSince: number | null = null;
  for (;;) {
    let progress: PartitionProgress[] | null = null;
    try {
      progress = await reader.read(allConsumerGroups);
      failingSince = null;
    } catch (error) {
      failingSince ??= now();
      if (now() - failingSince > failingForMs) throw outage(error);
    }
    if (detector.observe(now(), progress)) return;
    show(progress === null ? 'waiting for Kafka' : `waiting for ${describeLag(progress)}`);
    await sleep(pollMs);
  }
}

function outage(error: unknown): CliError {
  const reason = error instanceof Error ? error.message : String(error);
  return new CliError(`The consumer groups could not be read for a minute: ${reason}.`, 1, { cause: error });
}
