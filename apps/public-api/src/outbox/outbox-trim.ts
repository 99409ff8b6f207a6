import type { OutboxSession } from '@waypost/management-store';

const KEEP_PUBLISHED_MS = 24 * 3_600_000;
const TRIM_EVERY_MS = 3_600_000;

/** Deletes what was published long ago: at the first call, and then at most once an hour however often it is called. */
export function createOutboxTrim(now: () => number): (session: Pick<OutboxSession, 'trim'>) => Promise<void> {
  let trimAt = 0;
  return async (session) => {
    if (now() < trimAt) return;
    trimAt = now() + TRIM_EVERY_MS;
    await session.trim(now() - KEEP_PUBLISHED_MS);
  };
}
