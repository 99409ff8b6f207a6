import { partitionName, type TopicPartition } from '../record.js';

/** A partition that was last assigned to a member in `generation` and is still in use there. */
export interface RevokingPartition extends TopicPartition {
  readonly generation: number;
}

export interface CooperativeClaim {
  readonly memberId: string;
  /** The partitions that the member had, newest last; an older generation yields to a newer one. */
  readonly owned: readonly TopicPartition[];
  readonly generation: number;
  /** The member is assigned only partitions of these topics. */
  readonly topics: readonly string[];
  readonly revoking: readonly RevokingPartition[];
}

export interface MemberAssignment {
  readonly partitions: readonly TopicPartition[];
  /** Assigned to no member until this member releases them and joins again. */
  readonly awaited: readonly TopicPartition[];
}

/**
 * The two-step sticky assignment of cooperative rebalancing (KIP-429): a partition that moves is first revoked from its
 * owner, and assigned to no member while a member of this join claims it. Members that are gone claim nothing, so their
 * partitions move at once.
 *
 * The newest claim decides who owns a partition: it can only have been reassigned after an older owner had released it
 * or was considered dead, so an older claim delays no one. Claims are compared per partition, since a member may have
 * missed a generation that others got.
 */
export function assignCooperatively(
  partitions: readonly TopicPartition[],
  claims: readonly CooperativeClaim[],
): Map<string, MemberAssignment> {
  const holders = holdersOf(claims);
  const shares = new Map(claims.map(({ memberId }) => [memberId, emptyShare()]));
  for (const [memberId, target] of assignAmongSubscribers(partitions, claims)) {
    for (const partition of target) {
      const held = holders.get(partitionName(partition))?.memberIds ?? [];
      if (held.length === 0 || held.includes(memberId)) shares.get(memberId)?.partitions.push(partition);
      else for (const holder of held) shares.get(holder)?.awaited.push(partition);
    }
  }
  return shares;
}

function emptyShare(): { partitions: TopicPartition[]; awaited: TopicPartition[] } {
  return { partitions: [], awaited: [] };
}

/**
 * Like assignCooperatively(), but all partitions of one number go to one member.
 * @param lead the topic whose partitions decide for the others; absent: each partition goes where there is room
 */
export function assignPartitions(
  partitions: readonly TopicPartition[],
  claims: readonly CooperativeClaim[],
  lead?: string,
): Map<string, MemberAssignment> {
  if (lead === undefined) return assignCooperatively(partitions, claims);
  const ofLead = <T extends TopicPartition>(all: readonly T[]): T[] => all.filter(({ topic }) => topic === lead);
  const leading = claims.map((claim) => ({ ...claim, owned: ofLead(claim.owned), revoking: ofLead(claim.revoking) }));
  const topics = new Map(claims.map((claim) => [claim.memberId, claim.topics]));
  const existing = new Set(partitions.map(partitionName));
  return new Map(
    [...assignCooperatively(ofLead(partitions), leading)].map(([memberId, share]): [string, MemberAssignment] => {
      const all = share.partitions.flatMap(({ partition }) =>
        (topics.get(memberId) ?? []).map((topic) => ({ topic, partition })),
      );
      return [memberId, { ...share, partitions: all.filter((partition) => existing.has(partitionName(partition))) }];
    }),
  );
}

/** Divides topics with the same subscribers together. */
function assignAmongSubscribers(
  partitions: readonly TopicPartition[],
  claims: readonly CooperativeClaim[],
): Map<string, TopicPartition[]> {
  const assignment = new Map(claims.map(({ memberId }) => [memberId, [] as TopicPartition[]]));
  const shared = new Map<string, { readonly subscribers: CooperativeClaim[]; readonly partitions: TopicPartition[] }>();
  for (const partition of partitions) {
    const subscribers = claims.filter(({ topics }) => topics.includes(partition.topic));
    const name = subscribers.map(({ memberId }) => memberId).join();
    const group = shared.get(name) ?? { subscribers, partitions: [] };
    group.partitions.push(partition);
    shared.set(name, group);
  }
  for (const group of shared.values()) {
    for (const [memberId, share] of assignSticky(group.partitions, group.subscribers))
      assignment.get(memberId)?.push(...share);
  }
  return assignment;
}

interface Holders {
  readonly generation: number;
  /** More than one only if a group has lost its generation counter: then all of them are awaited. */
  readonly memberIds: readonly string[];
}

function holdersOf(claims: readonly CooperativeClaim[]): Map<string, Holders> {
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
}

export type MemberClaim = Pick<CooperativeClaim, 'memberId' | 'owned' | 'generation'>;

/**
 * Divides partitions so that no member has over one more than another and as few as possible move: state must be
 * restored wherever a partition goes. The result depends on the claims alone, so any member may compute it.
 */
export function assignSticky(
  partitions: readonly TopicPartition[],
  claims: readonly MemberClaim[],
): Map<string, TopicPartition[]> {
  const members = [...claims].sort((a, b) => (a.memberId < b.memberId ? -1 : 1));
  const assignment = new Map(members.map(({ memberId }) => [memberId, [] as TopicPartition[]]));
  if (members.length === 0) return assignment;
  const free = new Map([...partitions].sort(byName).map((p) => [partitionName(p), p]));
  const floor = Math.floor(partitions.length / members.length);
  /** How many members may hold one extra partition. */
  let extras = partitions.length % members.length;
  for (const { memberId, owned } of [...members].sort((a, b) => b.generation - a.generation)) {
    const kept = assignment.get(memberId) ?? [];
    // Keeps the longest-held partitions: if another member restarts, the ones just restored here go back.
    for (const partition of owned) {
      const isExtra = kept.length === floor;
      if (kept.length > floor || (isExtra && extras === 0)) break;
      if (!free.delete(partitionName(partition))) continue;
      if (isExtra) extras--;
      kept.push(partition);
    }
  }
  for (const partition of free.values()) leastLoaded(assignment).push(partition);
  return assignment;
}

function leastLoaded(assignment: Map<string, TopicPartition[]>): TopicPartition[] {
  let least: TopicPartition[] | null = null;
  for (const partitions of assignment.values()) if (!least || partitions.length < least.length) least = partitions;
  return least ?? [];
}

function byName(a: TopicPartition, b: TopicPartition): number {
  return a.topic === b.topic ? a.partition - b.partition : a.topic < b.topic ? -1 : 1;
}
