import type { OperationalEvent } from '@waypost/domain';
import type { DataSource } from 'typeorm';
import { storableText } from '@waypost/database';
import { OPERATIONS_KEPT, type OperationQuery, type OperationStore } from './operation-store.js';

export function createOperationStore(dataSource: DataSource): OperationStore {
  return {
    keep: (events) => keepOperations(dataSource, events),
    list: (query) => listOperations(dataSource, query),
    async trim(occurredBeforeMs) {
      const [, deleted] = await dataSource.query<[unknown, number]>(
        'DELETE FROM subscription_operations WHERE occurred_at < $1',
        [new Date(occurredBeforeMs)],
      );
      return deleted;
    },
  };
}

/** Two statements and no transaction: what a failure leaves above the bound goes with the next batch. */
async function keepOperations(dataSource: DataSource, events: readonly OperationalEvent[]): Promise<void> {
  if (events.length === 0) return;
  await dataSource.query(INSERT, columnsOf(events));
  await dataSource.query(BOUND, [
    events.map((event) => event.subscriptionId),
    events.map((event) => event.type),
    OPERATIONS_KEPT,
  ]);
}

const INSERT = `
  INSERT INTO subscription_operations
    (id, subscription_id, fleet_id, type, occurred_at, reason, event_id, delivery_offset, status_code, error_code)
  SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::timestamptz[], $6::text[], $7::uuid[],
    $8::bigint[], $9::integer[], $10::text[])
  ON CONFLICT (id) DO NOTHING`;

const BOUND = `
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

interface OperationRow extends Omit<OperationalEvent, 'occurredAt' | 'deliveryOffset'> {
  readonly occurredAt: Date;
  readonly deliveryOffset: string | null;
}

async function listOperations(
  dataSource: DataSource,
  { fleetId, subscriptionId, limit, before }: OperationQuery,
): Promise<OperationalEvent[]> {
  const found = await dataSource.query<OperationRow[]>(
    `SELECT id, subscription_id AS "subscriptionId", fleet_id AS "fleetId", type, occurred_at AS "occurredAt", reason,
            event_id AS "eventId", delivery_offset AS "deliveryOffset", status_code AS "statusCode",
            error_code AS "errorCode"
       FROM subscription_operations
      WHERE subscription_id = $1 AND fleet_id = $2
        ${before === null ? '' : 'AND (occurred_at, id) < ($4::timestamptz, $5::uuid)'}
      ORDER BY occurred_at DESC, id DESC LIMIT $3`,
    [subscriptionId, fleetId, limit, ...(before === null ? [] : [new Date(before.occurredAt), before.id])],
  );
  return found.map((row) => ({
    ...row,
    occurredAt: row.occurredAt.getTime(),
    deliveryOffset: row.deliveryOffset === null ? null : Number(row.deliveryOffset),
  }));
}
