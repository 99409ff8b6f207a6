import type { DataSource, EntityManager } from 'typeorm';
import { createDeliveryPartitions } from './delivery-partitions.js';
import type { AttemptBatch, DeliveryProjection } from './delivery-projection.js';
import { foldAttempts, type FoldedDelivery } from './fold-attempts.js';
import { isDayExpired, startOfUtcDay } from './retention.js';
import {
  FIND_KNOWN_DELIVERIES,
  findKnownParameters,
  UPSERT_DELIVERIES,
  upsertParameters,
} from './upsert-deliveries-sql.js';

export interface DeliveryProjectionDeps {
  readonly dataSource: DataSource;
  /** Epoch milliseconds; decides what is beyond the retention. */
  readonly now: () => number;
}

/** The projection into PostgreSQL. Its caller applies the batches of one partition one after the other. */
export function createDeliveryProjection({ dataSource, now }: DeliveryProjectionDeps): DeliveryProjection {
  const partitions = createDeliveryPartitions(dataSource);

  async function ensureDays(deliveries: readonly FoldedDelivery[]): Promise<void> {
    const days = new Set(deliveries.map(({ firstAttemptAt }) => startOfUtcDay(firstAttemptAt)));
    for (const day of days) await partitions.ensurePartitions(day, day);
  }

  return {
    readPosition: (topic, partition) => readPosition(dataSource.manager, topic, partition),

    async apply(batch) {
      const nowMs = now();
      const kept = batch.attempts.filter(({ firstAttemptAt }) => !isDayExpired(firstAttemptAt, nowMs));
      const deliveries = foldAttempts(kept);
      // Before the transaction, and in one of its own: no lock on a table definition outlives a moment.
      await ensureDays(deliveries);
      return dataSource.transaction(async (manager) => {
        if (!(await movePosition(manager, batch))) {
          return { type: 'superseded', storedOffset: await readPosition(manager, batch.topic, batch.partition) };
        }
        const writable = await withoutHeadless(manager, deliveries);
        await write(manager, writable);
        return {
          type: 'applied',
          deliveries: writable.length,
          expiredAttempts: batch.attempts.length - kept.length,
          headlessDeliveries: deliveries.length - writable.length,
        };
      });
    },
  };
}

async function readPosition(manager: EntityManager, topic: string, partition: number): Promise<number | null> {
  const rows: { next_offset: string }[] = await manager.query(
    'SELECT next_offset FROM projection_positions WHERE topic = $1 AND partition = $2',
    [topic, partition],
  );
  return rows[0] === undefined ? null : Number(rows[0].next_offset);
}

/**
 * Moves the position if it is where the caller believes it to be. The row lock is held until the batch is committed: a
 * rival waits here, then finds the position moved and has nothing to roll back.
 */
async function movePosition(manager: EntityManager, batch: AttemptBatch): Promise<boolean> {
  const { topic, partition, expectedOffset, nextOffset } = batch;
  if (expectedOffset === null) {
    const inserted: unknown[] = await manager.query(
      `INSERT INTO projection_positions (topic, partition, next_offset) VALUES ($1, $2, $3)
       ON CONFLICT (topic, partition) DO NOTHING RETURNING next_offset`,
      [topic, partition, nextOffset],
    );
    return inserted.length === 1;
  }
  // TypeORM answers an UPDATE with its rows and their number.
  const [, affected]: [unknown[], number] = await manager.query(
    'UPDATE projection_positions SET next_offset = $3 WHERE topic = $1 AND partition = $2 AND next_offset = $4',
    [topic, partition, nextOffset, expectedOffset],
  );
  return affected === 1;
}

/** Deliveries that can be written: those that bring their body and those that are stored already. */
async function withoutHeadless(
  manager: EntityManager,
  deliveries: readonly FoldedDelivery[],
): Promise<readonly FoldedDelivery[]> {
  const continued = deliveries.filter(({ body }) => body === null);
  if (continued.length === 0) return deliveries;
  const rows: { position: number }[] = await manager.query(FIND_KNOWN_DELIVERIES, findKnownParameters(continued));
  const known = new Set(rows.map(({ position }) => continued[position - 1]));
  return deliveries.filter((delivery) => delivery.body !== null || known.has(delivery));
}

/** In key order, so that neighbours in the log become neighbours in the day's indexes. */
const byKey = (a: FoldedDelivery, b: FoldedDelivery): number => a.firstAttemptAt - b.firstAttemptAt;

async function write(manager: EntityManager, deliveries: readonly FoldedDelivery[]): Promise<void> {
  if (deliveries.length === 0) return;
  await manager.query(UPSERT_DELIVERIES, upsertParameters(deliveries.toSorted(byKey)));
}
