import { setTimeout as sleep } from 'node:timers/promises';
import { allConsumerGroups, topics } from '@waypost/contracts';
import type { SubscriptionState, WebhookSubscription } from '@waypost/domain';
import { type GroupProgressReader, openGroupProgress, type PartitionProgress } from '@waypost/platform/without-nest';
import { type StackEnvironment, stackEnvironment } from '../stack/stack-config.js';
import { kafkaSettings } from '../stack/stack-connections.js';
import { messageOf } from '../terminal/message-of.js';
import { CliError, createStatusLine, type Terminal } from '../terminal/output.js';
import { readVersions } from '../topic-reading/read-topic.js';

export interface WaitOptions {
  readonly dataDir: string;
  readonly idleMs: number;
  readonly now: () => number;
}

const LONGEST_POLL_MS = 500;
const SHORTEST_POLL_MS = 50;
/** Coordinators move and brokers restart; what lasts longer than this is an outage. */
const FAILING_FOR_MS = 60_000;

/** Returns when every group has finished everything in the log and found nothing more for `idleMs`, and nothing is parked. */
export async function waitUntilIdle(terminal: Terminal, options: WaitOptions): Promise<void> {
  const stack = await stackEnvironment(options.dataDir);
  const reader = await openGroupProgress(kafkaSettings(stack));
  const status = createStatusLine(terminal);
  try {
    for (let parked = -1; parked !== 0; parked = (await parkedSubscriptions(stack)).length) {
      const before = parked > 0 ? `parked deliveries of ${String(parked)} subscriptions, ` : '';
      await pollUntilIdle(reader, options, (text) => status.show(`waiting for ${before}${text}`));
    }
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
  const pollMs = Math.min(LONGEST_POLL_MS, Math.max(SHORTEST_POLL_MS, idleMs / 4));
  let failingSince: number | null = null;
  for (;;) {
    let progress: PartitionProgress[] | null = null;
    try {
      progress = await reader.read(allConsumerGroups);
      failingSince = null;
    } catch (error) {
      failingSince ??= now();
      if (now() - failingSince > FAILING_FOR_MS) throw outage(error);
    }
    if (detector.observe(now(), progress)) return;
    show(progress === null ? 'Kafka' : describeLag(progress));
    await sleep(pollMs);
  }
}

/**
 * Subscriptions whose deliveries wait in the log, outside of the lag of the group, because the sender has enough of them in
 * memory. What is paused or suspended waits for its owner or a probe, and does not count.
 *
 * @returns their ids
 */
export async function parkedSubscriptions(stack: StackEnvironment): Promise<string[]> {
  const parked = new Set<string>();
  await readVersions<SubscriptionState>(stack, topics.subscriptionState.name, ({ key, value: state }) => {
    const isParked = state !== null && state.parkedFrom !== null && state.suspendedAt === null;
    parked[isParked ? 'add' : 'delete'](key);
  });
  if (parked.size === 0) return [];
  const paused = new Set<string>();
  await readVersions<WebhookSubscription>(stack, topics.webhookSubscriptions.name, ({ key, value }) => {
    paused[value?.status === 'paused' ? 'add' : 'delete'](key);
  });
  return [...parked].filter((id) => !paused.has(id));
}

function outage(error: unknown): CliError {
  const reason = messageOf(error);
  return new CliError(`The consumer groups could not be read for a minute: ${reason}.`, 1, { cause: error });
}

export interface IdleDetector {
  /** Takes one look at the groups; true once every look of the past `idleMs` found nothing to do. */
  observe(nowMs: number, progress: readonly PartitionProgress[] | null): boolean;
}

/** `progress` null is a failed lookup: it restarts the idle period. */
export function createIdleDetector(idleMs: number): IdleDetector {
  let idleSince: number | null = null;
  return {
    observe(nowMs, progress) {
      if (progress === null || progress.some(isBehind)) {
        idleSince = null;
        return false;
      }
      idleSince ??= nowMs;
      return nowMs - idleSince >= idleMs;
    },
  };
}

/** A group that never committed here is done when there is nothing to read, e.g. on a partition never written. */
export function lagOf({ startOffset, endOffset, committedOffset }: PartitionProgress): number {
  return Math.max(0, endOffset - (committedOffset ?? startOffset));
}

function isBehind(progress: PartitionProgress): boolean {
  return lagOf(progress) > 0;
}

/** "telemetry-processor 120, history-projector 3": the remaining lag, in records and markers. */
export function describeLag(progress: readonly PartitionProgress[]): string {
  const lags = new Map<string, number>();
  for (const one of progress) lags.set(one.groupId, (lags.get(one.groupId) ?? 0) + lagOf(one));
  const behind = [...lags].filter(([, lag]) => lag > 0).map(([group, lag]) => `${group} ${String(lag)}`);
  return behind.length === 0 ? 'nothing' : behind.join(', ');
}
