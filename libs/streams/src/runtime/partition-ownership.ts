import { settleOrAbort, waitOrAbort } from '../abort.js';
import type { CommittedOffset, GroupMember } from '../backend/backend.js';
import { partitionName, type TopicPartition } from '../record.js';
import type { CommitAs } from './partition-task.js';

const CONFIRM_AGAIN_AFTER_MS = 20;
/** Not that of any group. */
const NO_GENERATION = -2;

/** The group revoked the partition while the task was being built; not an error. */
export class OwnershipLost extends Error {}

/** The partition of one task, as the group sees it. */
export class PartitionOwnership {
  /** The last in which a heartbeat was accepted that was sent for the task. */
  private confirmedIn = NO_GENERATION;

  /**
   * @param generation the last in which the group assigned the partition to this process
   * @param closing aborted when the group has revoked it
   */
  constructor(
    private readonly member: Pick<GroupMember, 'confirm' | 'commit'>,
    private generation: number,
    private readonly closing: AbortSignal,
  ) {}

  keep(generation: number): void {
    this.generation = generation;
  }

  /** Resolves when the group has confirmed ownership after the call. @throws OwnershipLost if it has revoked it */
  async confirm(): Promise<void> {
    while (!this.closing.aborted) {
      const { generation } = this;
      if (await settleOrAbort(this.member.confirm(generation), this.closing)) {
        this.confirmedIn = generation;
        return;
      }
      if (this.generation === generation) await waitOrAbort(CONFIRM_AGAIN_AFTER_MS, this.closing);
    }
    throw new OwnershipLost();
  }

  /** Rejects if the partition may belong to another member by now. */
  async commit(partition: TopicPartition, offset: CommittedOffset, as: CommitAs): Promise<void> {
    const generation = as === 'confirmed' ? this.confirmedIn : undefined;
    if (await this.member.commit(partition, offset, generation)) return;
    throw new Error(`The group has a new generation, so ${partitionName(partition)} may belong to another member.`);
  }
}
