import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type EntityManager, In, IsNull, type Repository } from 'typeorm';
import { OutboxEntity } from '../entities.js';

/** What an outbox row describes; the publisher maps each kind to its topic. */
export type OutboxKind = 'fleet-settings' | 'geofence' | 'webhook-subscription' | 'webhook-replay' | 'webhook-delivery';

/** One change to publish. `key` is the record key; a null `value` is a tombstone. */
export interface OutboxEntry {
  readonly kind: OutboxKind;
  readonly key: string;
  /** Decides the partition, if that is not the key: always the same for one key. */
  readonly partitionKey?: string;
  readonly value: object | null;
}

/** The backlog of the outbox publisher. */
export interface OutboxLag {
  readonly waiting: number;
  /** Epoch milliseconds; null when nothing waits. */
  readonly oldestAt: number | null;
}

/** PostgreSQL notifies this channel at every commit that appended to the outbox, so that the publisher need not poll. */
export const OUTBOX_CHANNEL = 'waypost_outbox';

/**
 * Appends changes in the transaction that makes them, so that neither exists without the other. The caller holds
 * the row lock of the changed resource (by INSERT or FOR UPDATE): that makes the ids of one key ascend in commit order,
 * which the publisher relies on.
 *
 * @returns the outbox ids, in the order of the entries
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
  const saved = await manager.insert(OutboxEntity, rows);
  await manager.query('SELECT pg_notify($1, $2)', [OUTBOX_CHANNEL, '']);
  return saved.identifiers.map((identifier) => String(identifier['id']));
}

/** The ids of changes of these resources that have not reached their topic yet. */
export async function unpublishedChanges(
  manager: EntityManager,
  kind: OutboxKind,
  keys: readonly string[],
): Promise<string[]> {
  const rows = await manager.find(OutboxEntity, {
    select: { id: true },
    where: { kind, key: In(keys), publishedAt: IsNull() },
  });
  return rows.map(({ id }) => id);
}

/** The state of the outbox; `openOutboxSession` is for its publisher. */
@Injectable()
export class OutboxStore {
  constructor(@InjectRepository(OutboxEntity) private readonly outbox: Repository<OutboxEntity>) {}

  /** Whether each of these changes has been published to its topic. */
  async isPublished(outboxIds: readonly string[]): Promise<boolean> {
    return !(await this.outbox.existsBy({ id: In(outboxIds), publishedAt: IsNull() }));
  }

  async readLag(): Promise<OutboxLag> {
    const lag = await this.outbox
      .createQueryBuilder('row')
      .select('count(*)', 'waiting')
      .addSelect('min(row.createdAt)', 'oldest')
      .where('row.publishedAt IS NULL')
      .getRawOne<{ waiting: string; oldest: Date | null }>();
    return { waiting: Number(lag?.waiting ?? 0), oldestAt: lag?.oldest?.getTime() ?? null };
  }
}
