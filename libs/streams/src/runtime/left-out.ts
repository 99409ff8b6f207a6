import type { CommittedOffset, GroupMember } from '../backend/backend.js';
import type { TopicPartition } from '../record.js';

const ENTRY = 'left-out=';
const BETWEEN = '+';
/** The newest: what lies far behind has left the log. */
const MOST = 32;
/** The default of offset.metadata.max.bytes: the brokers refuse more. */
const MAX_METADATA = 4_096;

/**
 * The batches of an input that a command has left out, by their first offsets. They are committed with its position, as an
 * entry of the metadata: a task that reads behind its position meets them again after a restart.
 */
export class LeftOut {
  private offsets: readonly number[] = [];

  has(offset: number): boolean {
    return this.offsets.includes(offset);
  }

  add(...offsets: readonly number[]): void {
    this.offsets = [...new Set([...this.offsets, ...offsets])].sort((a, b) => a - b).slice(-MOST);
  }

  /** Other records may have the offsets now. */
  clear(): void {
    this.offsets = [];
  }

  addTo(metadata: string): string {
    if (this.offsets.length === 0) return metadata;
    const entry = ENTRY + this.offsets.join(BETWEEN);
    const all = metadata === '' ? entry : `${metadata},${entry}`;
    return all.length > MAX_METADATA ? metadata : all;
  }

  /** Adds what is in metadata. @returns the rest of it */
  takeFrom(metadata: string): string {
    const entry = metadata.split(',').find(isLeftOut);
    if (entry !== undefined) this.add(...entry.slice(ENTRY.length).split(BETWEEN).map(Number));
    return withoutLeftOut(metadata);
  }
}

export function withoutLeftOut(metadata: string): string {
  return metadata
    .split(',')
    .filter((entry) => !isLeftOut(entry))
    .join();
}

function isLeftOut(entry: string): boolean {
  return entry.startsWith(ENTRY);
}

interface Committing {
  readonly partition: TopicPartition;
  readonly leftOut: LeftOut;
}

/** The commits outside of transactions of one task, one after the other: none may take back the position of another. */
export class PlainCommits {
  private last: Promise<unknown> = Promise.resolve();

  constructor(private readonly member: GroupMember) {}

  async committed({ partition, leftOut }: Committing): Promise<CommittedOffset | null> {
    const found = await this.member.committed(partition);
    return found && { ...found, metadata: leftOut.takeFrom(found.metadata) };
  }

  commit({ partition, leftOut }: Committing, { offset, metadata }: CommittedOffset): Promise<void> {
    return this.queued(() => this.member.commit(partition, { offset, metadata: leftOut.addTo(metadata) }));
  }

  /** Commits what is left out with the position that is committed already. Without one, the next commit does. */
  keep({ partition, leftOut }: Committing): Promise<void> {
    return this.queued(async () => {
      const found = await this.member.committed(partition);
      if (found === null) return;
      const metadata = leftOut.addTo(leftOut.takeFrom(found.metadata));
      if (metadata !== found.metadata) await this.member.commit(partition, { offset: found.offset, metadata });
    });
  }

  private queued(work: () => Promise<void>): Promise<void> {
    const done = this.last.then(work);
    this.last = done.catch(() => undefined);
    return done;
  }
}
