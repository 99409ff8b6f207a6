import type { StreamsLogger, TaskContext } from '@waypost/streams';
import type { CommitPoint } from './partition-queues.js';

/**
 * Commits the position of a partition now and then. It is a plain commit: it may lag, since a successor folds what lies
 * behind it, and the group refuses one of an older generation. A pair that was true once stays true, so one that comes
 * late does no harm either.
 */
export interface PositionKeeper {
  /** Commits the position if it has moved and the last commit is long enough ago; or later, by itself. */
  moved(): void;
  /**
   * No commit leaves from now on: after a rebalance it would carry the new generation, for a partition that is no longer
   * ours. Resolves when the last one has ended.
   */
  stop(): Promise<void>;
}

export interface PositionKeeperOptions {
  readonly context: Pick<TaskContext, 'commitOffset' | 'partition'>;
  readonly commitPoint: () => CommitPoint;
  readonly start: CommitPoint;
  readonly now: () => number;
  readonly logger: StreamsLogger;
}

const COMMIT_EVERY_MS = 200;

export const createPositionKeeper = (options: PositionKeeperOptions): PositionKeeper => {
  const { context, commitPoint, start, now, logger } = options;
  let committedOffset = start.offset;
  let committedAt = -Infinity;
  let running: Promise<void> | null = null;
  let isStopped = false;

  const commit = async (): Promise<void> => {
    const { offset, foldFrom } = commitPoint();
    committedAt = now();
    if (offset === committedOffset) return;
    try {
      await context.commitOffset(offset, String(foldFrom));
      committedOffset = offset;
    } catch (error) {
      // Amid a rebalance this is what happens; the next one will do, or the successor's.
      logger.debug('position_not_committed', { partition: context.partition, error: String(error) });
    }
  };

  return {
    moved: () => {
      if (running || isStopped || now() - committedAt < COMMIT_EVERY_MS) return;
      running = commit().finally(() => {
        running = null;
      });
    },
    stop: async () => {
      isStopped = true;
      await running;
    },
  };
};
