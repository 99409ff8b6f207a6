/**
 * SQL by hand for the two writes, which project a batch of any size of the topic webhook.operations with one statement each, and
 * for the newest events of many subscriptions: one look at an index for each.
 */
import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { LessThan, type Repository } from 'typeorm';
import { inAllFleets, inFleet, storableText } from '@waypost/database';
import { isUuid, MAX_TIME_MS, type NewestOperations, type OperationalEvent } from '@waypost/domain';
import { OperationalEventEntity } from '../entities.js';

/** The position of an event in the list of its subscription. */
export interface OperationalEventPosition {
  readonly occurredAt: number;
  readonly id: string;
}

export interface OperationalEventQuery {
  readonly fleetId: string;
  readonly subscriptionId: string;
  readonly limit: number;
  /** null: from the newest on. */
  readonly before: OperationalEventPosition | null;
}

/**
 * Per subscription and type, so that thousands of exhausted deliveries do not push out the one event that says why a
 * subscription was disabled.
 */
export const OPERATIONAL_EVENTS_KEPT = 500;

/** One value that the columns do not accept would keep out all that are written with it. */
export function fitsOperationalEvents({ id, subscriptionId, eventId, occurredAt }: OperationalEvent): boolean {
  const isTime = occurredAt >= 0 && occurredAt <= MAX_TIME_MS;
  return isTime && isUuid(id) && isUuid(subscriptionId) && (eventId === null || isUuid(eventId));
}

/** The newest operational events of each subscription. The topic `webhook.operations` holds all of them. */
@Injectable()
export class OperationalEventStore {
  constructor(@InjectRepository(OperationalEventEntity) private readonly events: Repository<OperationalEventEntity>) {}

  /**
   * Stores the events that are not stored yet, then removes all but the newest OPERATIONAL_EVENTS_KEPT per subscription and
   * type. Each must fit the table.
   */
  async keep(events: readonly OperationalEvent[]): Promise<void> {
    if (events.length === 0) return;
    await inAllFleets(this.events.manager, async (manager) => {
      await manager.query(INSERT_EVENTS, columnsOf(events));
      await manager.query(DELETE_BEYOND_BOUND, [
        events.map((event) => event.subscriptionId),
        events.map((event) => event.type),
        OPERATIONAL_EVENTS_KEPT,
      ]);
    });
  }

  /** Newest first. */
  list({ fleetId, subscriptionId, limit, before }: OperationalEventQuery): Promise<readonly OperationalEvent[]> {
    return inFleet(this.events.manager, fleetId, (manager) => {
      const select = manager
        .createQueryBuilder(OperationalEventEntity, 'event')
        .where({ subscriptionId, fleetId })
        .orderBy('event.occurredAt', 'DESC')
        .addOrderBy('event.id', 'DESC')
        .limit(limit);
      if (before !== null) {
        const position = { occurredAt: new Date(before.occurredAt), id: before.id };
        select.andWhere('(event.occurredAt, event.id) < (:occurredAt, :id)', position);
      }
      return select.getMany();
    });
  }

  /** When the newest event of each of these types occurred, in the order of the subscriptions. */
  newest(fleetId: string, subscriptionIds: readonly string[]): Promise<readonly NewestOperations[]> {
    return inFleet(this.events.manager, fleetId, async (manager) => {
      const rows = await manager.query<Record<keyof NewestOperations, Date | null>[]>(SELECT_NEWEST, [
        fleetId,
        subscriptionIds,
      ]);
      return rows.map(({ suspended, probed, resumed }) => ({
        suspended: suspended?.getTime() ?? null,
        probed: probed?.getTime() ?? null,
        resumed: resumed?.getTime() ?? null,
      }));
    });
  }

  /** Removes the events that occurred before this time (epoch ms); returns their number. */
  async trim(occurredBeforeMs: number): Promise<number> {
    const { affected } = await inAllFleets(this.events.manager, (manager) =>
      manager.delete(OperationalEventEntity, { occurredAt: LessThan(occurredBeforeMs) }),
    );
    return affected ?? 0;
  }
}

const SELECT_NEWEST = `
  SELECT
    (SELECT max(occurred_at) FROM subscription_operations
      WHERE subscription_id = asked.id AND fleet_id = $1 AND type = 'suspended') AS suspended,
    (SELECT max(occurred_at) FROM subscription_operations
      WHERE subscription_id = asked.id AND fleet_id = $1 AND type = 'probed') AS probed,
    (SELECT max(occurred_at) FROM subscription_operations
      WHERE subscription_id = asked.id AND fleet_id = $1 AND type = 'resumed') AS resumed
  FROM unnest($2::uuid[]) WITH ORDINALITY AS asked (id, place)
  ORDER BY asked.place`;

const INSERT_EVENTS = `
  INSERT INTO subscription_operations
    (id, subscription_id, fleet_id, type, occurred_at, reason, event_id, delivery_offset, status_code, error_code)
  SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::timestamptz[], $6::text[], $7::uuid[],
    $8::bigint[], $9::integer[], $10::text[])
  ON CONFLICT (id) DO NOTHING`;

const DELETE_BEYOND_BOUND = `
  DELETE FROM subscription_operations AS kept
  USING (SELECT DISTINCT subscription_id, type FROM unnest($1::uuid[], $2::text[]) AS t (subscription_id, type)) AS touched
  CROSS JOIN LATERAL (
    SELECT occurred_at, id FROM subscription_operations
    WHERE subscription_id = touched.subscription_id AND type = touched.type
    ORDER BY occurred_at DESC, id DESC OFFSET $3 LIMIT 1
  ) AS edge
  WHERE kept.subscription_id = touched.subscription_id AND kept.type = touched.type
    AND (kept.occurred_at, kept.id) <= (edge.occurred_at, edge.id)`;

function columnsOf(events: readonly OperationalEvent[]): unknown[] {
  return [
    events.map((event) => event.id),
    events.map((event) => event.subscriptionId),
    events.map((event) => storableText(event.fleetId)),
    events.map((event) => storableText(event.type)),
    events.map((event) => new Date(event.occurredAt)),
    events.map((event) => storableText(event.reason)),
    events.map((event) => event.eventId),
    events.map((event) => event.deliveryOffset),
    events.map((event) => event.statusCode),
    events.map((event) => (event.errorCode === null ? null : storableText(event.errorCode))),
  ];
}
