import { partitionName, type TopicPartition } from '../record.js';

export interface MemberClaim {
  readonly memberId: string;
  /** What the member worked on until now; a claim of an older generation gives way to a newer one. */
  readonly owned: readonly TopicPartition[];
  readonly generation: number;
}

/**
 * Divides partitions so that no member has more than one more than another and as few as possible move: state has to
 * be restored wherever a partition goes. The answer depends on the claims alone, so any member may compute it.
 */
export const assignSticky = (
  partitions: readonly TopicPartition[],
  claims: readonly MemberClaim[],
): Map<string, TopicPartition[]> => {
  const members = [...claims].sort((a, b) => (a.memberId < b.memberId ? -1 : 1));
  const assignment = new Map(members.map(({ memberId }) => [memberId, [] as TopicPartition[]]));
  if (members.length === 0) return assignment;
  const free = new Map([...partitions].sort(byName).map((p) => [partitionName(p), p]));
  const quota = createQuota(partitions.length, members.length);
  for (const claim of [...members].sort((a, b) => b.generation - a.generation))
    keepOwned(claim, assignment, free, quota);
  for (const partition of free.values()) leastLoaded(assignment).push(partition);
  return assignment;
};

interface Quota {
  /** Whether a member that has `count` may keep one more. */
  allows(count: number): boolean;
}

/** Of `partitions % members` members each may keep one more than the others. */
const createQuota = (partitions: number, members: number): Quota => {
  const floor = Math.floor(partitions / members);
  let extras = partitions % members;
  return {
    allows(count) {
      if (count < floor) return true;
      if (count > floor || extras === 0) return false;
      extras--;
      return true;
    },
  };
};

const keepOwned = (
  claim: MemberClaim,
  assignment: Map<string, TopicPartition[]>,
  free: Map<string, TopicPartition>,
  quota: Quota,
): void => {
  const kept = assignment.get(claim.memberId) ?? [];
  for (const partition of [...claim.owned].sort(byName)) {
    const name = partitionName(partition);
    if (!free.has(name) || !quota.allows(kept.length)) continue;
    kept.push(partition);
    free.delete(name);
  }
};

const leastLoaded = (assignment: Map<string, TopicPartition[]>): TopicPartition[] => {
  let least: TopicPartition[] | null = null;
  for (const partitions of assignment.values()) if (!least || partitions.length < least.length) least = partitions;
  return least ?? [];
};

const byName = (a: TopicPartition, b: TopicPartition): number =>
  a.topic === b.topic ? a.partition - b.partition : a.topic < b.topic ? -1 : 1;
