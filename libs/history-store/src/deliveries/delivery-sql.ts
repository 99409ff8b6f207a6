/** SQL by hand: one statement per batch of deliveries of any size, which TypeORM would send row by row. */
import type { QueryConfig } from 'pg';
import { recordNumber } from '@waypost/domain';
import type { CopyRows } from '../projection/binary-copy.js';
import { type FoldedDelivery, lastRecordNumber, packAttempts, PROBE_LINES } from './fold-attempts.js';

export type WholeDelivery = FoldedDelivery & { readonly body: string };

type ColumnType = 'uuid' | 'timestamptz' | 'integer' | 'text';
type Value = string | number | null;

interface Column {
  readonly name: string;
  readonly type: ColumnType;
  readonly valueOf: (delivery: FoldedDelivery) => Value;
}

const COLUMNS: readonly Column[] = [
  { name: 'event_id', type: 'uuid', valueOf: (delivery) => delivery.eventId },
  { name: 'first_attempt_at', type: 'timestamptz', valueOf: (delivery) => delivery.firstAttemptAt },
  { name: 'last_attempt_at', type: 'timestamptz', valueOf: (delivery) => delivery.lastAttemptAt },
  { name: 'event_time', type: 'timestamptz', valueOf: (delivery) => delivery.eventTime },
  { name: 'created_at', type: 'timestamptz', valueOf: (delivery) => delivery.createdAt },
  { name: 'delivered_at', type: 'timestamptz', valueOf: (delivery) => delivery.deliveredAt },
  { name: 'next_attempt_at', type: 'timestamptz', valueOf: (delivery) => delivery.nextAttemptAt },
  { name: 'series', type: 'integer', valueOf: (delivery) => delivery.series },
  { name: 'status_code', type: 'integer', valueOf: (delivery) => delivery.statusCode },
  { name: 'last_attempt', type: 'integer', valueOf: lastRecordNumber },
  { name: 'fleet_id', type: 'text', valueOf: (delivery) => delivery.fleetId },
  { name: 'device_id', type: 'text', valueOf: (delivery) => delivery.deviceId },
  { name: 'subscription_id', type: 'text', valueOf: (delivery) => delivery.subscriptionId },
  { name: 'event_type', type: 'text', valueOf: (delivery) => delivery.eventType },
  { name: 'format', type: 'text', valueOf: (delivery) => delivery.format },
  { name: 'status', type: 'text', valueOf: (delivery) => delivery.status },
  { name: 'replay_id', type: 'text', valueOf: (delivery) => delivery.replayId },
  { name: 'url', type: 'text', valueOf: (delivery) => delivery.url },
  { name: 'body', type: 'text', valueOf: (delivery) => delivery.body },
  { name: 'attempts', type: 'text', valueOf: (delivery) => packAttempts(delivery.attempts) },
];

const NAMES = COLUMNS.map(({ name }) => name).join(', ');
const ARRAYS = COLUMNS.map(({ type }, index) => `$${String(index + 1)}::${type}[]`).join(', ');
const VALUES = COLUMNS.map(({ name }) => (name === 'body' ? "coalesce(b.body, '')" : `b.${name}`)).join(', ');

/**
 * Adds deliveries of one day, none of which exists yet; an existing one fails with a unique violation. It names the
 * table of the day: otherwise dropping a day would have to wait for every transaction that writes another.
 */
export function copyDeliveriesSql(partition: string): string {
  return `COPY ${partition} (${NAMES}) FROM STDIN (FORMAT binary)`;
}

/** Spelled out because it runs per delivery. */
export function writeDeliveryRow(rows: CopyRows, delivery: WholeDelivery): void {
  rows.startRow(COLUMNS.length);
  rows.uuid(delivery.eventId);
  rows.timestamp(delivery.firstAttemptAt);
  rows.timestamp(delivery.lastAttemptAt);
  rows.timestamp(delivery.eventTime);
  rows.timestamp(delivery.createdAt);
  rows.timestamp(delivery.deliveredAt);
  rows.timestamp(delivery.nextAttemptAt);
  rows.integer(delivery.series);
  rows.integer(delivery.statusCode);
  rows.integer(lastRecordNumber(delivery));
  rows.text(delivery.fleetId);
  rows.text(delivery.deviceId);
  rows.text(delivery.subscriptionId);
  rows.text(delivery.eventType);
  rows.text(delivery.format);
  rows.text(delivery.status);
  rows.text(delivery.replayId);
  rows.text(delivery.url);
  rows.text(delivery.body);
  rows.text(packAttempts(delivery.attempts));
}

/**
 * Continues deliveries that are pending, have none of the attempts and keep all their probes; returns the positions
 * (from 1) of those found. It names the table of the day, so that the planner ignores the others. `attempts` joins two
 * JSON arrays.
 */
export function continueDeliveries(partition: string, deliveries: readonly FoldedDelivery[]): QueryConfig {
  return {
    // Prepared once per connection and day.
    name: `continue ${partition}`,
    text: `
      UPDATE ${partition} AS d SET
        last_attempt_at = b.last_attempt_at,
        delivered_at = b.delivered_at,
        next_attempt_at = b.next_attempt_at,
        status = b.status,
        status_code = b.status_code,
        last_attempt = b.last_attempt,
        attempts = left(d.attempts, -1) || ',' || substr(b.attempts, 2)
      FROM unnest($1::uuid[], $2::integer[], $3::timestamptz[], $4::integer[], $5::timestamptz[], $6::timestamptz[],
                  $7::timestamptz[], $8::text[], $9::integer[], $10::integer[], $11::text[])
           WITH ORDINALITY AS b (event_id, series, first_attempt_at, first_added, last_attempt_at,
                  delivered_at, next_attempt_at, status, status_code, last_attempt, attempts, position)
      WHERE d.event_id = b.event_id AND d.series = b.series AND d.first_attempt_at = b.first_attempt_at
        AND d.last_attempt < b.first_added AND d.status = 'pending'
      RETURNING b.position::integer AS position`,
    values: CONTINUED_VALUES.map((valueOf) => deliveries.map(valueOf)),
  };
}

const CONTINUED_VALUES: readonly ((delivery: FoldedDelivery) => Value)[] = [
  ({ eventId }) => eventId,
  ({ series }) => series,
  ({ firstAttemptAt }) => iso(firstAttemptAt),
  ({ attempts: [first] }) => (first ? recordNumber(first) : 0),
  ({ lastAttemptAt }) => iso(lastAttemptAt),
  ({ deliveredAt }) => iso(deliveredAt),
  ({ nextAttemptAt }) => iso(nextAttemptAt),
  ({ status }) => status,
  ({ statusCode }) => statusCode,
  lastRecordNumber,
  ({ attempts }) => packAttempts(attempts),
];

/**
 * Adds deliveries, and to existing ones the attempts that they lack: the rule of `mergeDelivery` in testing/, for any
 * input. A delivery without a body (its first record was in an earlier batch) must exist, or it would be added with an
 * empty one. Each column is one array parameter: the text is the same for every batch size.
 *
 * `json`, not `jsonb`, which would reformat the text: a row has the same bytes whichever statement wrote it.
 */
export const UPSERT_DELIVERIES = `
  INSERT INTO deliveries AS d (${NAMES})
  SELECT ${VALUES} FROM unnest(${ARRAYS}) AS b (${NAMES})
  ON CONFLICT (event_id, series, first_attempt_at) DO UPDATE SET
    last_attempt_at = EXCLUDED.last_attempt_at,
    delivered_at = EXCLUDED.delivered_at,
    next_attempt_at = EXCLUDED.next_attempt_at,
    status = EXCLUDED.status,
    status_code = EXCLUDED.status_code,
    last_attempt = EXCLUDED.last_attempt,
    attempts = '[' || (
      SELECT string_agg(a.entry::text, ',' ORDER BY a.position)
        FROM json_array_elements((left(d.attempts, -1) || ',' || substr(EXCLUDED.attempts, 2))::json)
             WITH ORDINALITY AS a (entry, position)
       WHERE (a.position <= json_array_length(d.attempts::json) OR (a.entry ->> 0)::integer > d.last_attempt)
         AND (coalesce(a.entry ->> 9, '0') = '0' OR (a.entry ->> 8)::integer <= ${String(PROBE_LINES)}
              OR (a.entry ->> 8)::integer > (EXCLUDED.attempts::json -> -1 ->> 8)::integer - ${String(PROBE_LINES)})
      ) || ']'
  WHERE EXCLUDED.last_attempt > d.last_attempt`;

/** No delivery may occur twice. */
export function upsertParameters(deliveries: readonly FoldedDelivery[]): unknown[] {
  return COLUMNS.map(({ type, valueOf }) =>
    deliveries.map((delivery) => {
      const value = valueOf(delivery);
      return type === 'timestamptz' && typeof value === 'number' ? iso(value) : value;
    }),
  );
}

/**
 * Returns the existing ones of the given deliveries, as positions in the parameters from 1, and what is stored of them.
 * The LIMIT makes it one lookup in one day's primary key per delivery; a plain join could become a full scan.
 */
export const FIND_EXISTING_DELIVERIES = `
  SELECT b.position::integer AS position, k.created_at, k.delivered_at, k.attempts
    FROM unnest($1::uuid[], $2::integer[], $3::timestamptz[])
         WITH ORDINALITY AS b (event_id, series, first_attempt_at, position),
         LATERAL (SELECT * FROM deliveries d
                   WHERE d.event_id = b.event_id AND d.series = b.series AND d.first_attempt_at = b.first_attempt_at
                   LIMIT 1) AS k`;

export interface ExistingDelivery {
  readonly position: number;
  readonly created_at: Date;
  readonly delivered_at: Date | null;
  readonly attempts: string;
}

export function findExistingParameters(deliveries: readonly FoldedDelivery[]): unknown[] {
  return [
    deliveries.map(({ eventId }) => eventId),
    deliveries.map(({ series }) => series),
    deliveries.map(({ firstAttemptAt }) => iso(firstAttemptAt)),
  ];
}

function iso(epochMs: number | null): string | null {
  return epochMs === null ? null : new Date(epochMs).toISOString();
}
