import { setTimeout as sleep } from 'node:timers/promises';
import type { Admin } from 'kafkajs';
import { waitUntil } from '../../../tools/dev-stack/processes/wait-until.js';

const WAIT_MS = 60_000;

export type BenchGroups = ReturnType<typeof createBenchGroups>;

/** Consumer groups in the state that a measurement waits for. */
export function createBenchGroups(admin: Admin) {
  async function describe(groupId: string): Promise<{ readonly state: string; readonly members: number }> {
    const { groups } = await admin.describeGroups([groupId]);
    return { state: groups[0]?.state ?? 'unknown', members: groups[0]?.members.length ?? 0 };
  }

  function until(groupId: string, isReached: (found: { state: string; members: number }) => boolean): Promise<void> {
    return waitUntil(
      async () => {
        const found = await describe(groupId);
        if (isReached(found)) return;
        throw new Error(`Group ${groupId} is ${found.state} and has ${String(found.members)} members.`);
      },
      { timeoutMs: WAIT_MS },
    );
  }

  /** Resolves when the group has no member, which may take a session timeout. */
  const untilEmpty = (groupId: string): Promise<void> => until(groupId, ({ members }) => members === 0);
  return {
    untilEmpty,
    /** Resolves when the group has at least so many members and each knows its partitions. */
    untilStable: (groupId: string, least: number) =>
      until(groupId, ({ state, members }) => state === 'Stable' && members >= least),
    /** Deletes the group with its committed offsets, once it has no member. */
    async forget(groupId: string) {
      await untilEmpty(groupId);
      const { groups } = await admin.listGroups();
      if (groups.some((group) => group.groupId === groupId)) await admin.deleteGroups([groupId]);
    },
  };
}

/** How far a group is on the input, at one moment. */
export interface GroupProgress {
  readonly atMs: number;
  /** Records that are committed as done. */
  readonly done: number;
  readonly left: number;
  /** Committed offsets by partition; the topic's first offset where nothing is committed. */
  readonly offsets: ReadonlyMap<number, number>;
}

export type GroupWatch = Awaited<ReturnType<typeof watchGroup>>;

const POLL_MS = 25;
const TIMEOUT_MS = 15 * 60_000;

/** Follows what a group has committed, up to the ends that the topic has now. */
export async function watchGroup(admin: Admin, groupId: string, topic: string, now: () => number) {
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
    total,
    ends,
    read,
    /** Looks again and again until the condition holds. @throws when it does not in time, or the signal's reason */
    async until(
      condition: (progress: GroupProgress) => boolean,
      { signal }: { readonly signal: AbortSignal },
    ): Promise<GroupProgress> {
      const deadline = now() + TIMEOUT_MS;
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
