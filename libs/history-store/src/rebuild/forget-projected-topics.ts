/** SQL by hand: positions are not an entity. */
import { createDataSource } from '@waypost/database';

/**
 * Binds the history to new topics of the same names: their projectors start at the beginning, and the rows stay. Only for
 * topics that share no record with the earlier ones, while no projector runs.
 */
export async function forgetProjectedTopics(databaseUrl: string, topics: readonly string[]): Promise<void> {
  const settings = { poolSize: 1, applicationName: 'waypost state import' };
  const dataSource = await createDataSource(databaseUrl, settings).initialize();
  try {
    await dataSource.transaction(async (manager) => {
      await manager.query('DELETE FROM projection_positions WHERE topic = ANY($1)', [topics]);
      await manager.query('DELETE FROM projected_topics WHERE topic = ANY($1)', [topics]);
      // By partition of the attempts. A number that the new topic lacks would hold back completeUntil for ever.
      await manager.query('DELETE FROM delivery_progress');
    });
  } finally {
    await dataSource.destroy();
  }
}
