/** SQL by hand: a mark holds only while the position is where its writer believes it to be. */
import type { DataSource } from 'typeorm';

/** The log of one partition ended at `expectedOffset` when it was looked at. */
export interface CaughtUp {
  readonly topic: string;
  readonly partition: number;
  /** The position that the caller believes to be stored; null: none yet. */
  readonly expectedOffset: number | null;
  /** Everything that was logged before this is projected; epoch ms. */
  readonly completeUntil: number;
}

/**
 * Until when the attempt log is projected, by partition. A batch moves it to the time of its last record, in its own
 * transaction; a partition without input says here that there is nothing new.
 */
export abstract class ProjectionProgress {
  /** Before anything is said of a partition, all of them are known: the least of them counts. */
  abstract begin(partitions: number): Promise<void>;
  abstract caughtUp(mark: CaughtUp): Promise<void>;
}

export function createProjectionProgress(dataSource: DataSource): ProjectionProgress {
  return {
    async begin(partitions) {
      await dataSource.transaction(async (manager) => {
        await manager.query('DELETE FROM delivery_progress WHERE partition >= $1', [partitions]);
        await manager.query(
          `INSERT INTO delivery_progress (partition)
             SELECT generate_series(0, $1::integer - 1) ON CONFLICT DO NOTHING`,
          [partitions],
        );
      });
    },

    /** FOR SHARE waits for a rebuild that has the table of positions, and then finds no position. */
    async caughtUp({ topic, partition, expectedOffset, completeUntil }) {
      await dataSource.query(
        `WITH stored AS (SELECT next_offset FROM projection_positions WHERE topic = $1 AND partition = $2 FOR SHARE)
         UPDATE delivery_progress SET complete_until = $4
          WHERE partition = $2 AND (SELECT next_offset FROM stored) IS NOT DISTINCT FROM $3::bigint`,
        [topic, partition, expectedOffset, new Date(completeUntil).toISOString()],
      );
    },
  };
}
