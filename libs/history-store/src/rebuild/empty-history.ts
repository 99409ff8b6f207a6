import type { DataSource } from 'typeorm';
import { sqlState } from '@waypost/database';
import type { ProjectedLogs } from './projected-logs.js';

export type EmptyHistoryResult =
  | { readonly type: 'emptied' }
  /** Somebody held on to the tables for too long, such as a projector that was stopped in the middle of a batch. */
  | { readonly type: 'busy' };

/** While it waits for the tables, readers wait behind it. */
const LOCK_TIMEOUT = '3s';
const LOCK_NOT_AVAILABLE = '55P03';
const DEADLOCK_DETECTED = '40P01';

/**
 * Empties the projected tables and forgets how far they were projected, in one transaction. A projector that is at work
 * finds its position gone when it writes next, or looks, and goes on from the beginning of the log: there is no moment
 * at which rows and positions disagree, whoever is killed.
 */
export async function emptyHistory(dataSource: DataSource, logs: ProjectedLogs): Promise<EmptyHistoryResult> {
  try {
    await dataSource.transaction(async (manager) => {
      await manager.query(`SET LOCAL lock_timeout = '${LOCK_TIMEOUT}'`);
      // Positions first, as every projector does: then there is no deadlock, and no batch is in flight.
      await manager.query('LOCK TABLE projection_positions IN EXCLUSIVE MODE');
      await manager.query('DELETE FROM projection_positions WHERE topic = ANY($1)', [Object.values(logs)]);
      // Not DROP: projectors know which days have a partition.
      await manager.query(`TRUNCATE ${Object.keys(logs).join(', ')}`);
    });
    return { type: 'emptied' };
  } catch (error) {
    const state = sqlState(error);
    if (state === LOCK_NOT_AVAILABLE || state === DEADLOCK_DETECTED) return { type: 'busy' };
    throw error;
  }
}
