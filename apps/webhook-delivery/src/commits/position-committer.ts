import type { CommittedOffset, StreamsLogger, TaskContext } from '@waypost/streams';

/**
 * Commits the position of a partition periodically, outside transactions. The position may lag: a successor recovers
 * what lies after it from the log, and the group refuses a commit of an older generation. A position must stay valid
 * forever, so that a late commit does no harm.
 */
export interface PositionCommitter {
  /** Commits the position if it has moved and the last commit is long enough ago; otherwise a later call does. */
  moved(): void;
  /**
   * Prevents further commits: after a rebalance they would carry the new generation, for a partition that this process
   * no longer owns. Resolves when the last commit has ended.
   */
  stop(): Promise<void>;
}

export interface PositionCommitterOptions {
  readonly context: Pick<TaskContext, 'commitOffset' | 'partition'>;
  readonly position: () => CommittedOffset;
  readonly committed: CommittedOffset;
  readonly monotonicMs: () => number;
  readonly logger: StreamsLogger;
}

const COMMIT_INTERVAL_MS = 200;

export function createPositionCommitter(options: PositionCommitterOptions): PositionCommitter {
  const { context, monotonicMs, logger } = options;
  let { committed } = options;
  let lastCommitMs = -Infinity;
  let running: Promise<void> | null = null;
  let isStopped = false;

  const commit = async (): Promise<void> => {
    const position = options.position();
    lastCommitMs = monotonicMs();
    if (position.offset === committed.offset && position.metadata === committed.metadata) return;
    try {
      await context.commitOffset(position.offset, position.metadata);
      committed = position;
    } catch (error) {
      // Expected during a rebalance; the next commit, or the successor's, will do.
      logger.debug('position_not_committed', { partition: context.partition, error: String(error) });
    }
  };

  return {
    moved: () => {
      if (running || isStopped || monotonicMs() - lastCommitMs < COMMIT_INTERVAL_MS) return;
      running = commit().finally(() => {
        running = null;
      });
    },
    stop: async () => {
      isStopped = true;
      await running;
    },
  };
}
