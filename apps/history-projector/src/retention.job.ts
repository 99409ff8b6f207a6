import type { DailyPartitions } from '@waypost/history-store';
import type { LifecyclePart, Logger } from '@waypost/platform';
import type { DatabaseRetry } from './database-retry.js';

const DAY_MS = 86_400_000;
const EVERY_MS = 3_600_000;

/** Partitions are made this far ahead, so that midnight finds tomorrow's in place. */
const AHEAD_MS = 2 * DAY_MS;

export interface RetentionJobDeps {
  /** Of each table on its own. */
  readonly partitions: readonly DailyPartitions[];
  readonly database: DatabaseRetry;
  readonly logger: Pick<Logger, 'info' | 'error'>;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Calls again and again until cancelled through the function it returns. */
  readonly every: (ms: number, call: () => void) => () => void;
}

/** At start and every hour: makes the partitions of the coming days and drops the expired ones. */
export function createRetentionJob({ partitions, database, logger, now, every }: RetentionJobDeps): LifecyclePart {
  const giveUp = new AbortController();
  let running: Promise<void> | null = null;
  let cancel: () => void = () => undefined;

  async function tidy(table: DailyPartitions): Promise<void> {
    const nowMs = now();
    const created = await table.ensurePartitions(nowMs, nowMs + AHEAD_MS);
    const left = await table.detachExpired(nowMs);
    const waiting = left.type === 'detached' ? left.waiting : [];
    const freed = await table.dropDetached(nowMs);
    const dropped = freed.type === 'dropped' ? freed.partitions : [];
    if (created.length + dropped.length + waiting.length > 0)
      logger.info('partitions_tidied', { created, dropped, waiting });
  }

  /** A failure is told and the next hour tries again: the projection makes the partitions it needs by itself. */
  async function tidyOrTell(table: DailyPartitions): Promise<void> {
    try {
      await database.run(() => tidy(table), giveUp.signal);
    } catch (error) {
      if (!giveUp.signal.aborted) logger.error('retention_failed', { error });
    }
  }

  async function tidyAll(): Promise<void> {
    for (const table of partitions) await tidyOrTell(table);
    running = null;
  }

  function begin(): void {
    running ??= tidyAll();
  }

  return {
    name: 'retention',
    start: () => {
      begin();
      cancel = every(EVERY_MS, begin);
    },
    stop: async () => {
      cancel();
      giveUp.abort();
      await running;
    },
  };
}
