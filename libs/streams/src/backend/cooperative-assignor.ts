import { partitionName, type TopicPartition } from '../record.js';
import { assignSticky, type MemberClaim } from './sticky-assignor.js';

/** A partition that a member was last assigned in `generation`, and still works on. */
export interface RevokingPartition extends TopicPartition {
  readonly generation: number;
}

export interface CooperativeClaim extends MemberClaim {
  /** No longer assigned to the member, and not yet let go by it. */
  readonly revoking: readonly RevokingPartition[];
}

export interface MemberAssignment {
  readonly partitions: readonly TopicPartition[];
  /** Withheld from everybody until this member lets go of it and joins again without claiming it. */
  readonly awaited: readonly TopicPartition[];
}

/**
 * The sticky assignment in two steps: a partition that is to move is first taken from its holder, and given to nobody
 * while a member of this very join claims it. Those who are gone claim nothing, so what they had moves at once.
 *
 * Who holds a partition is said by the newest claim: it can have been assigned anew only after an older holder had let
 * go or was thought dead, so that one's claim, should it come back, holds nobody up. Claims are compared for each
 * partition alone, since a member may have missed a generation that others were given.
 */
export const assignCooperatively = (
  partitions: readonly TopicPartition[],
  claims: readonly CooperativeClaim[],
): Map<string, MemberAssignment> => {
  const holders = holdersOf(claims);
  const awaited = new Map<string, TopicPartition[]>(claims.map(({ memberId }) => [memberId, []]));
  const mayTake = (memberId: string, partition: TopicPartition): boolean => {
    const held = holders.get(partitionName(partition))?.memberIds ?? [];
    if (held.length === 0 || held.includes(memberId)) return true;
    for (const holder of held) awaited.get(holder)?.push(partition);
    return false;
  };
  const shares = [...assignSticky(partitions, claims)].map(([memberId, target]): [string, MemberAssignment] => [
    memberId,
    {
      partitions: target.filter((partition) => mayTake(memberId, partition)),
      awaited: awaited.get(memberId) ?? [],
    },
  ]);
  return new Map(shares);
};

interface Holders {
  readonly generation: number;
  /** Several only when a group has lost its count of generations: then all of them are waited for. */
  readonly memberIds: readonly string[];
}

const holdersOf = (claims: readonly CooperativeClaim[]): Map<string, Holders> => {
  const holders = new Map<string, Holders>();
  const claim = (memberId: string, partition: TopicPartition, generation: number): void => {
    const name = partitionName(partition);
    const newest = holders.get(name);
    if (newest && newest.generation > generation) return;
    const others = newest?.generation === generation ? newest.memberIds : [];
    holders.set(name, { generation, memberIds: [...others, memberId] });
  };
  for (const { memberId, owned, revoking, generation } of claims) {
    for (const partition of owned) claim(memberId, partition, generation);
    for (const partition of revoking) claim(memberId, partition, partition.generation);
  }
  return holders;
};
