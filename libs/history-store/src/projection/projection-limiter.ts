import pLimit from 'p-limit';

/** Runs work when a slot is free; settles as the work does. */
export type ProjectionLimiter = <T>(work: () => Promise<T>) => Promise<T>;

/** A projection transaction takes a tenth of a second. A longer one mostly waits for a lock or a dead connection. */
const SLOT_TIMEOUT_MS = 1_000;
/** More extra slots would take the connections of the other partitions. */
const MAX_EXTRA_SLOTS = 4;

/**
 * Limits concurrent transactions. A projection that is behind could keep every processor of the server busy, and pages
 * would wait for one; decision 0024 has the cost of one transaction at a time.
 *
 * Work that holds its slot for too long continues, but its slot is given to the next in line, so up to four stalled
 * partitions delay no other. With five stalled, the others wait for the first to end.
 */
export function createProjectionLimiter(concurrency = 1, slotTimeoutMs = SLOT_TIMEOUT_MS): ProjectionLimiter {
  const limit = pLimit(concurrency);
  return (work) =>
    limit(async () => {
      let extraSlots = 0;
      const timer = setTimeout(() => {
        extraSlots = limit.concurrency < concurrency + MAX_EXTRA_SLOTS ? 1 : 0;
        limit.concurrency += extraSlots;
      }, slotTimeoutMs);
      try {
        return await work();
      } finally {
        clearTimeout(timer);
        limit.concurrency -= extraSlots;
      }
    });
}
