/** SQL by hand: a mark is valid only while the position is where its writer expects it. */
import type { DataSource } from 'typeorm';

/** The log of one partition ended at `expectedOffset` when checked. */
export interface CaughtUp {
  readonly topic: string;
  readonly partition: number;
  /** The position that the caller expects to be stored; null: none yet. */
  readonly expectedOffset: number | null;
  /** Everything that was logged before this is projected; epoch ms. */
  readonly completeUntil: number;
}

/**
 * Until when the attempt log is projected, by partition. A batch moves the mark to the time of its last record,
 * in its own transaction; an idle partition reports here that there is nothing new.
 */
export abstract class ProjectionProgress {
  /** Registers all partitions of the log before any reports: the least of them counts. */
  abstract begin(topic: string, partitions: number): Promise<void>;
  abstract caughtUp(mark: CaughtUp): Promise<void>;
}

/**
 * A topic never loses partitions, so a lower count is out of date, unless the topic was created again and the history was
 * emptied for it: then nothing is projected, and no partition has reported. A row that is missing would let the others
 * pass what its partition still has to project.
 */
const FORGET_EARLIER_TOPIC = `
  DELETE FROM delivery_progress
   WHERE partition >= $1
     AND NOT EXISTS (SELECT FROM projection_positions WHERE topic = $2)
     AND NOT EXISTS (SELECT FROM delivery_progress WHERE complete_until IS NOT NULL)`;

export function createProjectionProgress(dataSource: DataSource): ProjectionProgress {
  return {
    async begin(topic, partitions) {
      await dataSource.transaction(async (manager) => {
        await manager.query(FORGET_EARLIER_TOPIC, [partitions, topic]);
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
         INSERT INTO delivery_progress (partition, complete_until)
           SELECT $2::integer, $4::timestamptz
            WHERE (SELECT next_offset FROM stored) IS NOT DISTINCT FROM $3::bigint
         ON CONFLICT (partition) DO UPDATE SET complete_until = excluded.complete_until`,
        [topic, partition, expectedOffset, new Date(completeUntil).toISOString()],
      );
    },
  };
}
