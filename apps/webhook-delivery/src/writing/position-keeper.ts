import type { CommittedOffset, StreamsLogger, TaskContext } from '@waypost/streams';

/**
 * Commits the position of a partition now and then. It is a plain commit: it may lag, since a successor finds out from
 * the log what lies behind it, and the group refuses one of an older generation. What it says must stay true once it was
 * true, so that one that comes late does no harm either.
 */
export interface PositionKeeper {
  /** Commits the position if it has moved and the last commit is long enough ago; else a later call does. */
  moved(): void;
  /**
   * No commit leaves from now on: after a rebalance it would carry the new generation, for a partition that is no longer
   * ours. Resolves when the last one has ended.
   */
  stop(): Promise<void>;
}

export interface PositionKeeperOptions {
  readonly context: Pick<TaskContext, 'commitOffset' | 'partition'>;
  readonly position: () => CommittedOffset;
  readonly committed: CommittedOffset;
  readonly now: () => number;
  readonly logger: StreamsLogger;
}

const COMMIT_EVERY_MS = 200;

export const createPositionKeeper = (options: PositionKeeperOptions): PositionKeeper => {
  const { context, now, logger } = options;
  let { committed } = options;
  let committedAt = -Infinity;
  let running: Promise<void> | null = null;
  let isStopped = false;

  const commit = async (): Promise<void> => {
    const position = options.position();
    committedAt = now();
    if (position.offset === committed.offset && position.metadata === committed.metadata) return;
    try {
      await context.commitOffset(position.offset, position.metadata);
      committed = position;
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
