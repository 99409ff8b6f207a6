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
