const LEAST_MS = 10;
const MOST_MS = 500;
const MS_PER_PARTITION = 1;

/**
 * How long a partition waits after a small commit, by the topic's partition count: the tasks of all processes together
 * then commit about a thousand small transactions per second. It is the same for all partitions, whichever process has
 * them.
 */
export function lingerFor(partitionCount: number): number {
  return Math.min(Math.max(partitionCount * MS_PER_PARTITION, LEAST_MS), MOST_MS);
}

const MOST_HELD_UP_MS = 2_000;
const DECAY = 0.75;

/**
 * The wait of one task after small commits. It grows if the brokers have not completed a transaction when the next one
 * begins: new records are better in the next fetch than behind a commit that has to wait.
 */
export class Linger {
  ms: number;

  constructor(private readonly leastMs: number) {
    this.ms = leastMs;
  }

  /** @param heldUpMs how long the commit waited for the previous one to complete; 0: not at all */
  committed(heldUpMs: number): void {
    const wantedMs = heldUpMs > 0 ? this.ms + heldUpMs : this.ms * DECAY;
    this.ms = Math.max(this.leastMs, Math.min(wantedMs, MOST_HELD_UP_MS));
  }
}
