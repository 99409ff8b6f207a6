import { setTimeout as sleep } from 'node:timers/promises';
import type { Admin } from 'kafkajs';

/** How far a group is on the input, at one moment. */
export interface GroupProgress {
  readonly atMs: number;
  /** Records that are committed as done. */
  readonly done: number;
  readonly left: number;
  /** Committed offsets by partition; the topic's first offset where nothing is committed. */
  readonly offsets: ReadonlyMap<number, number>;
}

export interface GroupWatch {
  /** Records of the topic when the watch began. */
  readonly total: number;
  readonly ends: ReadonlyMap<number, number>;
  read(): Promise<GroupProgress>;
  /** Looks again and again until the condition holds. @throws when it does not in time, or the signal's reason */
  until(condition: (progress: GroupProgress) => boolean, options: UntilOptions): Promise<GroupProgress>;
}

interface UntilOptions {
  readonly signal: AbortSignal;
  readonly timeoutMs?: number;
}

const POLL_MS = 25;
const TIMEOUT_MS = 15 * 60_000;

/** Follows what a group has committed, up to the ends that the topic has now. */
export async function watchGroup(admin: Admin, groupId: string, topic: string, now: () => number): Promise<GroupWatch> {
  const bounds = await admin.fetchTopicOffsets(topic);
  const starts = new Map(bounds.map(({ partition, low }) => [partition, Number(low)]));
  const ends = new Map(bounds.map(({ partition, high }) => [partition, Number(high)]));
  const total = sumOf(ends) - sumOf(starts);

  async function read(): Promise<GroupProgress> {
    const atMs = now();
    const answer = await admin.fetchOffsets({ groupId, topics: [topic] });
    const committed = answer.flatMap(({ partitions }) => partitions).filter(({ offset }) => Number(offset) >= 0);
    const offsets = new Map(starts);
    for (const { partition, offset } of committed) offsets.set(partition, Number(offset));
    const left = sumOf(ends) - sumOf(offsets);
    return { atMs, left, done: total - left, offsets };
  }

  return {
    ...{ total, ends, read },
    async until(condition, { signal, timeoutMs = TIMEOUT_MS }) {
      const deadline = now() + timeoutMs;
      for (;;) {
        signal.throwIfAborted();
        const progress = await read();
        if (condition(progress)) return progress;
        if (progress.atMs > deadline) {
          throw new Error(
            `Group ${groupId} does not get on: ${String(progress.left)} of ${String(total)} records are left.`,
          );
        }
        await sleep(POLL_MS);
      }
    },
  };
}

function sumOf(offsets: ReadonlyMap<number, number>): number {
  return [...offsets.values()].reduce((sum, offset) => sum + offset, 0);
}
