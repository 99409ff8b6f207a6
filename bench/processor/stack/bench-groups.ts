import type { Admin } from 'kafkajs';
import { waitUntil } from '../../../tools/dev-stack/index.js';

const WAIT_MS = 60_000;

/** Consumer groups in the state that a measurement waits for. */
export interface BenchGroups {
  /** Resolves when the group has no member, which may take a session timeout. */
  untilEmpty(groupId: string): Promise<void>;
  /** Resolves when the group has at least so many members and each knows its partitions. */
  untilStable(groupId: string, members: number): Promise<void>;
  /** Deletes the group with its committed offsets, once it has no member. */
  forget(groupId: string): Promise<void>;
}

export function createBenchGroups(admin: Admin): BenchGroups {
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

  const untilEmpty = (groupId: string): Promise<void> => until(groupId, ({ members }) => members === 0);
  return {
    untilEmpty,
    untilStable: (groupId, least) => until(groupId, ({ state, members }) => state === 'Stable' && members >= least),
    async forget(groupId) {
      await untilEmpty(groupId);
      const { groups } = await admin.listGroups();
      if (groups.some((group) => group.groupId === groupId)) await admin.deleteGroups([groupId]);
    },
  };
}
