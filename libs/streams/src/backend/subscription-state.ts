import { partitionName, type TopicPartition } from '../record.js';
import type { RevokingPartition, MemberAssignment } from './cooperative-assignor.js';

interface Closing extends RevokingPartition {
  /** The first of our assignments without the partition since it was last assigned. */
  readonly since: number;
}

/** What one member works on: its assignment, and what it had before and has not let go yet. */
export class SubscriptionState {
  private owned: readonly TopicPartition[] = [];
  private awaited: readonly TopicPartition[] = [];
  private readonly closing = new Map<string, Closing>();
  private assignments = 0;
  private newest = -1;

  /** Of the newest assignment; -1: there was none. */
  get generation(): number {
    return this.newest;
  }

  claim(): { generation: number; owned: readonly TopicPartition[]; revoking: readonly RevokingPartition[] } {
    return { generation: this.newest, owned: this.owned, revoking: [...this.closing.values()] };
  }

  /** Returns what is to be called once everything that this assignment does not have was let go. */
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
   * The group waits for something that is not held here any more: it was let go meanwhile, or the one who held it was
   * a predecessor under the same name, who is gone.
   */
  get needsRejoin(): boolean {
    return this.awaited.some((partition) => !this.closing.has(partitionName(partition)));
  }
}
