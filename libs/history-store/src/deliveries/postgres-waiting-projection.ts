import type { PoolClient } from 'pg';
import type { DataSource } from 'typeorm';
import type { WebhookDelivery } from '@waypost/domain';
import { createDailyPartitions, createPartitionCache, type DailyPartitions } from '../partitions/daily-partitions.js';
import { type DailyTable, isDayExpired } from '../partitions/daily-table.js';
import { createProjectionLimiter } from '../projection/projection-limiter.js';
import { inTransaction, movePosition, readPosition } from '../projection/projection-transaction.js';
import type { WaitingBatch, WaitingProjection } from './waiting-projection.js';
import { FIND_WITHOUT_ATTEMPT, HOLD_ATTEMPTS, INSERT_WAITING, insertParameters, keyParameters } from './waiting-sql.js';

export interface WaitingProjectionDeps {
  readonly dataSource: DataSource;
  /** Creates and owns the tables of days. Default: the same. */
  readonly tableOwner?: DataSource;
  readonly now: () => number;
}

const WAITING: DailyTable = { name: 'waiting_deliveries', creationLock: 7_215_008, retentionLock: 7_215_009 };

/** Partitions by creation. */
export function createWaitingPartitions(dataSource: DataSource): DailyPartitions {
  return createDailyPartitions(dataSource, WAITING);
}

/** The caller applies the batches of one partition one after the other. */
export function createWaitingProjection({
  dataSource,
  tableOwner = dataSource,
  now,
}: WaitingProjectionDeps): WaitingProjection {
  const partitions = createPartitionCache(createWaitingPartitions(tableOwner));
  const limit = createProjectionLimiter();

  /** Runs before the transaction, which blocks the attempts of the partition: nearly all deliveries have an attempt. */
  async function withoutAttempt(deliveries: readonly WebhookDelivery[]): Promise<readonly WebhookDelivery[]> {
    if (deliveries.length === 0) return [];
    const rows: { position: number }[] = await dataSource.query(FIND_WITHOUT_ATTEMPT, keyParameters(deliveries));
    const positions = new Set(rows.map(({ position }) => position - 1));
    return deliveries.filter((_, index) => positions.has(index));
  }

  return {
    readPosition: (topic, partition) => readPosition(dataSource, topic, partition),

    async attemptsCompleteUntil(partition) {
      const rows: { complete_until: Date | null }[] = await dataSource.query(
        'SELECT complete_until FROM delivery_progress WHERE partition = $1',
        [partition],
      );
      return rows[0]?.complete_until?.getTime() ?? null;
    },

    async apply(batch) {
      try {
        // Beyond the retention the history has no attempts, so all of these would seem to wait.
        const kept = batch.deliveries.filter(({ createdAt }) => !isDayExpired(createdAt, now()));
        const found = await withoutAttempt(kept);
        await partitions.ensure(found.map(({ createdAt }) => createdAt));
        const waiting = await limit(() => inTransaction(dataSource, (client) => store(client, batch, found)));
        if (waiting !== null) return { type: 'applied', waiting };
        return { type: 'superseded', storedOffset: await readPosition(dataSource, batch.topic, batch.partition) };
      } catch (error) {
        partitions.clear();
        throw error;
      }
    },
  };
}

/** Resolves to the number of rows; null: another writer moved the position. */
async function store(
  client: PoolClient,
  batch: WaitingBatch,
  found: readonly WebhookDelivery[],
): Promise<number | null> {
  if (!(await movePosition(client, batch))) return null;
  if (found.length === 0) return 0;
  await client.query(HOLD_ATTEMPTS, [batch.partition]);
  const { rowCount } = await client.query(INSERT_WAITING, insertParameters(found));
  return rowCount ?? 0;
}
