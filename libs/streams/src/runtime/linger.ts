const LEAST_MS = 10;
const MOST_MS = 500;
const MS_PER_PARTITION = 1.2;

/**
 * How long a partition waits at most after a small commit, by the topic's partition count: the tasks of all processes
 * together then commit less than 850 times per second. It is the same for all partitions, whichever process has them.
 */
export function lingerFor(partitionCount: number): number {
  return Math.min(Math.max(partitionCount * MS_PER_PARTITION, LEAST_MS), MOST_MS);
}

/** How many times longer the wait after a commit is than that of a transaction for the tasks that end theirs together. */
export const GATHER_PER_LINGER = 10;

/** The wait until the next multiple of `lingerMs`: the tasks of a process go on together, and commit together. */
export function untilNextTurn(now: number, lingerMs: number): number {
  return lingerMs === 0 ? 0 : lingerMs - (now % lingerMs);
}
