import type { DataSource } from 'typeorm';
import { UNIQUE_VIOLATION } from '@waypost/database';
import { createFigurePartitions } from '../figures/write-figures.js';
import { createPartitionCache } from '../partitions/daily-partitions.js';
import { isDayExpired } from '../partitions/daily-table.js';
import { createProjectionLimiter } from '../projection/projection-limiter.js';
import { inTransaction, readPosition } from '../projection/projection-transaction.js';
import { createDeliveryPartitions } from './delivery-partitions.js';
import type { ApplyResult, AttemptBatch, DeliveryProjection } from './delivery-projection.js';
import { foldAttempts, type FoldedDelivery } from './fold-attempts.js';
import { applyUpserts, applyWrites, prepareWrites } from './write-deliveries.js';

export interface DeliveryProjectionDeps {
  readonly dataSource: DataSource;
  /** Creates and owns the tables of days. Default: the same. */
  readonly tableOwner?: DataSource;
  readonly now: () => number;
  /** How many transactions of different partitions run at once; see createProjectionLimiter. */
  readonly transactionsAtOnce?: number | undefined;
}

/** The caller applies the batches of one partition one after the other. */
export function createDeliveryProjection({
  dataSource,
  tableOwner = dataSource,
  now,
  transactionsAtOnce,
}: DeliveryProjectionDeps): DeliveryProjection {
  const tables = [createDeliveryPartitions(tableOwner), createFigurePartitions(tableOwner)].map(createPartitionCache);
  const limit = createProjectionLimiter(transactionsAtOnce);

  async function ensurePartitions(deliveries: readonly FoldedDelivery[]): Promise<void> {
    for (const partitions of tables) await partitions.ensure(deliveries.map(({ firstAttemptAt }) => firstAttemptAt));
  }

  /** Resolves to the number of deliveries written; null: another writer moved the position. */
  async function write(batch: AttemptBatch, deliveries: readonly FoldedDelivery[]): Promise<number | null> {
    try {
      await ensurePartitions(deliveries);
      const writes = await prepareWrites(deliveries);
      return await limit(() => inTransaction(dataSource, (client) => applyWrites(client, batch, writes)));
    } catch (error) {
      for (const partitions of tables) partitions.clear();
      if (!isUniqueViolation(error)) throw error;
      await ensurePartitions(deliveries);
      return limit(() => inTransaction(dataSource, (client) => applyUpserts(client, batch, deliveries)));
    }
  }

  return {
    readPosition: (topic, partition) => readPosition(dataSource, topic, partition),

    async apply(batch): Promise<ApplyResult> {
      const nowMs = now();
      const kept = batch.attempts.filter(({ firstAttemptAt }) => !isDayExpired(firstAttemptAt, nowMs));
      const deliveries = foldAttempts(kept);
      const written = await write(batch, deliveries);
      if (written === null) {
        return { type: 'superseded', storedOffset: await readPosition(dataSource, batch.topic, batch.partition) };
      }
      return {
        type: 'applied',
        deliveries: written,
        expiredAttempts: batch.attempts.length - kept.length,
        headlessDeliveries: deliveries.length - written,
      };
    },
  };
}

/** Judges by shape: the error is the driver's, not TypeORM's, and may come from another realm. */
function isUniqueViolation(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === UNIQUE_VIOLATION;
}
