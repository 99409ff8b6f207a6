const LEAST_MS = 10;
const MOST_MS = 500;
const MS_PER_PARTITION = 1;

/**
 * How long a partition waits after a small commit, by the number of partitions of the topic: its tasks together then make
 * about a thousand small transactions per second, in however many processes they are. It is the same for all partitions and
 * does not depend on which process has them.
 */
export function lingerFor(partitionCount: number): number {
  return Math.min(Math.max(partitionCount * MS_PER_PARTITION, LEAST_MS), MOST_MS);
}

const MOST_HELD_UP_MS = 2_000;
const DECAY = 0.75;

/**
 * The wait of one task after its small commits. It grows when the brokers have not completed a transaction by the time the
 * next one begins: records that arrive then are better in the next fetch than behind a commit that has to wait.
 */
export class Linger {
  private waitMs: number;

  constructor(private readonly leastMs: number) {
    this.waitMs = leastMs;
  }

  get ms(): number {
    return this.waitMs;
  }

  /** @param heldUpMs how long the commit waited for the completion of the one before; 0: not at all */
  committed(heldUpMs: number): void {
    const wantedMs = heldUpMs > 0 ? this.waitMs + heldUpMs : this.waitMs * DECAY;
    this.waitMs = Math.max(this.leastMs, Math.min(wantedMs, MOST_HELD_UP_MS));
  }
}
