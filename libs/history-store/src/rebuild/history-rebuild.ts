/** SQL by hand: positions are not an entity, and the tables are emptied by TRUNCATE. */
import type { DataSource } from 'typeorm';
import { createDataSource, DEADLOCK_DETECTED, LOCK_NOT_AVAILABLE, sqlState } from '@waypost/database';
import type { DailyTable } from '../partitions/daily-table.js';

/** The topic of each table that is filled only from a log. The type makes the list complete. */
export type ProjectedLogs = Readonly<Record<DailyTable['name'], string>>;

/** How far one partition of a log is projected. */
export interface StoredPosition {
  readonly topic: string;
  readonly partition: number;
  readonly nextOffset: number;
}

export type EmptyHistoryResult =
  | { readonly type: 'emptied' }
  /** Another session held the tables for too long, such as a projector stopped in the middle of a batch. */
  | { readonly type: 'busy' };

/** Lets a tool empty the history, so that the projectors fill it again from the logs (docs/decisions/0023-rebuild-by-the-projector.md). */
export interface HistoryRebuild {
  /** The projected topics. */
  readonly topics: readonly string[];
  /** Partitions without projected records are absent. */
  readPositions(): Promise<readonly StoredPosition[]>;
  /** Whether the history has a delivery whose first attempt was before this, epoch ms. */
  hasDeliveriesBefore(atMs: number): Promise<boolean>;
  /** Empties all projected tables and forgets the positions, in one transaction. It does not retry. */
  empty(): Promise<EmptyHistoryResult>;
  close(): Promise<void>;
}

/** Readers queue behind it while it waits for the tables. */
const LOCK_TIMEOUT = '3s';
/** The last moment of 9999. */
const END_OF_TIME_MS = 253_402_300_799_999;

/** Rejects if the database cannot be reached. */
export async function openHistoryRebuild(databaseUrl: string, logs: ProjectedLogs): Promise<HistoryRebuild> {
  const settings = { poolSize: 2, applicationName: 'waypost rebuild', seesAllFleets: true };
  const dataSource = await createDataSource(databaseUrl, settings).initialize();
  const topics = [...new Set(Object.values(logs))];
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
    async hasDeliveriesBefore(atMs) {
      const before = new Date(Math.min(atMs, END_OF_TIME_MS));
      const rows: unknown[] = await dataSource.query('SELECT 1 FROM deliveries WHERE first_attempt_at < $1 LIMIT 1', [
        before,
      ]);
      return rows.length > 0;
    },
    empty: () => emptyHistory(dataSource, logs),
    close: () => dataSource.destroy(),
  };
}

/**
 * Empties the projected tables and deletes their positions, in one transaction. An active projector finds its position gone
 * at its next write or read and continues from the beginning of the log: rows and positions never disagree, whichever
 * process is killed.
 */
export async function emptyHistory(dataSource: DataSource, logs: ProjectedLogs): Promise<EmptyHistoryResult> {
  try {
    await dataSource.transaction(async (manager) => {
      await manager.query(`SET LOCAL lock_timeout = '${LOCK_TIMEOUT}'`);
      // Locks the positions first, like every projector: this prevents deadlocks, and no batch is in flight afterwards.
      await manager.query('LOCK TABLE projection_positions IN EXCLUSIVE MODE');
      await manager.query('DELETE FROM projection_positions WHERE topic = ANY($1)', [Object.values(logs)]);
      await manager.query('UPDATE delivery_progress SET complete_until = NULL');
      // Not DROP: projectors remember which days have a partition.
      await manager.query(`TRUNCATE ${Object.keys(logs).join(', ')}`);
    });
    return { type: 'emptied' };
  } catch (error) {
    const state = sqlState(error);
    if (state === LOCK_NOT_AVAILABLE || state === DEADLOCK_DETECTED) return { type: 'busy' };
    throw error;
  }
}
