import { partitionName, type TopicPartition } from '../record.js';
import type { CooperativeClaim, MemberAssignment, RevokingPartition } from './cooperative-assignor.js';

interface Closing extends RevokingPartition {
  /** The number of the first assignment without the partition. */
  readonly since: number;
}

/** The partitions of one member: its assignment, and revoked partitions whose tasks are not closed yet. */
export class MemberPartitions {
  private owned: readonly TopicPartition[] = [];
  private awaited: readonly TopicPartition[] = [];
  private readonly closing = new Map<string, Closing>();
  private assignments = 0;
  private newest = -1;

  /** The generation of the newest assignment; -1: none. */
  get generation(): number {
    return this.newest;
  }

  claim(): Omit<CooperativeClaim, 'memberId' | 'topics'> {
    return { generation: this.newest, owned: this.owned, revoking: [...this.closing.values()] };
  }

  /** @returns a function to call once every partition that is not in this assignment is released */
  accept(generation: number, { partitions, awaited }: MemberAssignment): () => void {
    const since = ++this.assignments;
    const assigned = new Set(partitions.map(partitionName));
    for (const partition of this.owned) {
      const name = partitionName(partition);
      if (!assigned.has(name)) this.closing.set(name, { ...partition, generation: this.newest, since });
    }
    for (const name of assigned) this.closing.delete(name);
    this.owned = partitions;
    this.awaited = awaited;
    this.newest = generation;
    return () => {
      for (const [name, closing] of this.closing) if (closing.since <= since) this.closing.delete(name);
    };
  }

  /**
   * Whether the group waits for a revocation that no longer concerns this member: the partition has been released, or
   * its owner was a predecessor with the same instance id. Another rebalance tells the group.
   */
  get needsRejoin(): boolean {
    return this.awaited.some((partition) => !this.closing.has(partitionName(partition)));
  }
}
