import type { DailyPartitions } from './daily-partitions.js';
import { startOfUtcDay } from './history/retention.js';

/** The days whose partition is known to exist, so that a writer need not ask for each of its batches. */
export interface KnownDays {
  /**
   * Makes sure of the partitions of these moments. To be called before a transaction: a partition is made in one of its
   * own, so that no lock on a table definition outlives a moment.
   */
  ensure(moments: Iterable<number>): Promise<void>;
  /** After a failure: somebody may have dropped a day. */
  forget(): void;
}

export function createKnownDays(partitions: DailyPartitions): KnownDays {
  const days = new Set<number>();
  return {
    async ensure(moments) {
      for (const atMs of moments) {
        const day = startOfUtcDay(atMs);
        if (days.has(day)) continue;
        await partitions.ensurePartitions(day, day);
        days.add(day);
      }
    },
    forget: () => {
      days.clear();
    },
  };
}
