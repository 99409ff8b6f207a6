import type { EntityManager } from 'typeorm';
import { OutboxRowEntity } from './outbox-row.entity.js';

/** What an outbox row describes; the publisher knows the topic of each kind. */
export type OutboxKind = 'fleet-settings' | 'geofence' | 'webhook-subscription' | 'webhook-replay' | 'webhook-delivery';

/** One change to publish. `key` is the record key; a null `value` is a tombstone. */
export interface OutboxEntry {
  readonly kind: OutboxKind;
  readonly key: string;
  /** What decides the partition, where that is not the key itself: always the same for a key. */
  readonly partitionKey?: string;
  readonly value: object | null;
}

/** Postgres tells this channel at every commit that appended to the outbox, so that the publisher need not poll. */
export const OUTBOX_CHANNEL = 'waypost_outbox';

/**
 * Appends changes inside the transaction that makes them, so that neither is there without the other.
 * The caller holds the row of the changed thing (by insert or FOR UPDATE): that is what makes the row ids
 * of one key ascend in commit order, and the publisher relies on it.
 */
export async function appendToOutbox(
  manager: EntityManager,
  entries: readonly OutboxEntry[],
  nowMs: number,
): Promise<string[]> {
  const rows = entries.map((entry) => ({
    ...entry,
    partitionKey: entry.partitionKey ?? null,
    createdAt: nowMs,
    publishedAt: null,
  }));
  const saved = await manager.insert(OutboxRowEntity, rows);
  await manager.query('SELECT pg_notify($1, $2)', [OUTBOX_CHANNEL, '']);
  return saved.identifiers.map((identifier) => String(identifier['id']));
}
