import type { DataSource } from 'typeorm';
import { createKnownDays } from '../known-days.js';
import { createTurns } from '../turns.js';
import { createDeliveryPartitions } from './delivery-partitions.js';
import type { ApplyResult, AttemptBatch, DeliveryProjection } from './delivery-projection.js';
import { foldAttempts, type FoldedDelivery } from './fold-attempts.js';
import { inTransaction } from './in-transaction.js';
import { readPosition } from './projection-position.js';
import { isDayExpired } from './retention.js';
import { expectedDeliveries, writeAsExpected, writeWhatever } from './write-deliveries.js';

export interface DeliveryProjectionDeps {
  readonly dataSource: DataSource;
  /** Epoch milliseconds; decides what is beyond the retention. */
  readonly now: () => number;
  /** Of how many partitions the server works at transactions together; see createTurns. */
  readonly transactionsAtOnce?: number | undefined;
}

const UNIQUE_VIOLATION = '23505';

/** The projection into PostgreSQL. Its caller applies the batches of one partition one after the other. */
export function createDeliveryProjection({
  dataSource,
  now,
  transactionsAtOnce,
}: DeliveryProjectionDeps): DeliveryProjection {
  const days = createKnownDays(createDeliveryPartitions(dataSource));
  const inTurn = createTurns(transactionsAtOnce);

  const ensureDays = (deliveries: readonly FoldedDelivery[]): Promise<void> =>
    days.ensure(deliveries.map(({ firstAttemptAt }) => firstAttemptAt));

  /** Resolves to the number of deliveries written; null: another writer moved the position. */
  async function write(batch: AttemptBatch, deliveries: readonly FoldedDelivery[]): Promise<number | null> {
    try {
      await ensureDays(deliveries);
      const expected = await expectedDeliveries(deliveries);
      return await inTurn(() => inTransaction(dataSource, (client) => writeAsExpected(client, batch, expected)));
    } catch (error) {
      days.forget();
      if (!isUniqueViolation(error)) throw error;
      await ensureDays(deliveries);
      return inTurn(() => inTransaction(dataSource, (client) => writeWhatever(client, batch, deliveries)));
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

/** By shape: a driver's errors need not be of this realm. */
const isUniqueViolation = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'code' in error && error.code === UNIQUE_VIOLATION;
