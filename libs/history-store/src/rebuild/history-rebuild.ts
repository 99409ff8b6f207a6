import { createDataSource } from '@waypost/database';
import { emptyHistory, type EmptyHistoryResult } from './empty-history.js';
import type { ProjectedLogs } from './projected-logs.js';

/** How far one partition of a log is projected. */
export interface StoredPosition {
  readonly topic: string;
  readonly partition: number;
  readonly nextOffset: number;
}

/** What a tool needs to have the history filled again from the logs by the projectors (docs/decisions/0023-rebuild.md). */
export interface HistoryRebuild {
  /** The topics that are projected. */
  readonly topics: readonly string[];
  /** Partitions of which nothing is projected are absent. */
  readPositions(): Promise<readonly StoredPosition[]>;
  /** Empties all projected tables and forgets the positions, at once or not at all. One try. */
  empty(): Promise<EmptyHistoryResult>;
  close(): Promise<void>;
}

/** Rejects when the database cannot be reached. */
export async function openHistoryRebuild(databaseUrl: string, logs: ProjectedLogs): Promise<HistoryRebuild> {
  const settings = { poolSize: 2, applicationName: 'waypost rebuild' };
  const dataSource = await createDataSource(databaseUrl, settings).initialize();
  const topics = Object.values(logs);
  return {
    topics,
    async readPositions() {
      const rows: { topic: string; partition: number; next_offset: string }[] = await dataSource.query(
        'SELECT topic, partition, next_offset FROM projection_positions WHERE topic = ANY($1) ORDER BY topic, partition',
        [topics],
      );
      return rows.map(({ topic, partition, next_offset: offset }) => ({
        topic,
        partition,
        nextOffset: Number(offset),
      }));
    },
    empty: () => emptyHistory(dataSource, logs),
    close: () => dataSource.destroy(),
  };
}
