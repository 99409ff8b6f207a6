import { RETENTION_MS } from '@waypost/domain';
import type { OperationalEventStore } from '@waypost/management-store';

const TRIM_EVERY_MS = 3_600_000;

/** Forgets what is older than the history: at the first call, and then at most once an hour however often it is called. */
export function createOperationsTrim(
  store: Pick<OperationalEventStore, 'trim'>,
  now: () => number,
): () => Promise<void> {
  let trimAt = 0;
  return async () => {
    if (now() < trimAt) return;
    trimAt = now() + TRIM_EVERY_MS;
    await store.trim(now() - RETENTION_MS);
  };
}
