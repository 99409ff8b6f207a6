import { lastAttemptNumber, type FoldedDelivery } from './fold-attempts.js';
import { packedText } from './packed-attempts.js';

interface BulkColumn {
  readonly name: string;
  readonly type: string;
  readonly valueOf: (delivery: FoldedDelivery) => string | number | null;
}

const at = (epochMs: number): string => new Date(epochMs).toISOString();
const atOrNull = (epochMs: number | null): string | null => (epochMs === null ? null : at(epochMs));

/** One array parameter each: the statement has the same text for every batch size. */
const COLUMNS: readonly BulkColumn[] = [
  { name: 'event_id', type: 'uuid', valueOf: (delivery) => delivery.eventId },
  { name: 'first_attempt_at', type: 'timestamptz', valueOf: (delivery) => at(delivery.firstAttemptAt) },
  { name: 'last_attempt_at', type: 'timestamptz', valueOf: (delivery) => at(delivery.lastAttemptAt) },
  { name: 'event_time', type: 'timestamptz', valueOf: (delivery) => at(delivery.eventTime) },
  { name: 'created_at', type: 'timestamptz', valueOf: (delivery) => at(delivery.createdAt) },
  { name: 'delivered_at', type: 'timestamptz', valueOf: (delivery) => atOrNull(delivery.deliveredAt) },
  { name: 'next_attempt_at', type: 'timestamptz', valueOf: (delivery) => atOrNull(delivery.nextAttemptAt) },
  { name: 'series', type: 'integer', valueOf: (delivery) => delivery.series },
  { name: 'status_code', type: 'integer', valueOf: (delivery) => delivery.statusCode },
  { name: 'last_attempt', type: 'integer', valueOf: lastAttemptNumber },
  { name: 'fleet_id', type: 'text', valueOf: (delivery) => delivery.fleetId },
  { name: 'device_id', type: 'text', valueOf: (delivery) => delivery.deviceId },
  { name: 'subscription_id', type: 'text', valueOf: (delivery) => delivery.subscriptionId },
  { name: 'event_type', type: 'text', valueOf: (delivery) => delivery.eventType },
  { name: 'format', type: 'text', valueOf: (delivery) => delivery.format },
  { name: 'status', type: 'text', valueOf: (delivery) => delivery.status },
  { name: 'url', type: 'text', valueOf: (delivery) => delivery.url },
  { name: 'body', type: 'text', valueOf: (delivery) => delivery.body },
  { name: 'attempts', type: 'text', valueOf: (delivery) => packedText(delivery.attempts) },
];

const names = COLUMNS.map(({ name }) => name).join(', ');
const arrays = COLUMNS.map(({ type }, index) => `$${String(index + 1)}::${type}[]`).join(', ');
const values = COLUMNS.map(({ name }) => (name === 'body' ? "coalesce(b.body, '')" : `b.${name}`)).join(', ');

/**
 * Adds deliveries, and to those that exist the attempts that they do not have yet: the rule of `mergeDelivery`, for whatever
 * comes. A delivery without a body (its attempt 1 came in an earlier batch) must exist, or it would be added with an empty one.
 *
 * `json` and not `jsonb`, which would write the text anew: a row has the same bytes whichever way it was written.
 */
export const UPSERT_DELIVERIES = `
  INSERT INTO deliveries AS d (${names})
  SELECT ${values} FROM unnest(${arrays}) AS b (${names})
  ON CONFLICT (event_id, series, first_attempt_at) DO UPDATE SET
    url = EXCLUDED.url,
    last_attempt_at = EXCLUDED.last_attempt_at,
    delivered_at = EXCLUDED.delivered_at,
    next_attempt_at = EXCLUDED.next_attempt_at,
    status = EXCLUDED.status,
    status_code = EXCLUDED.status_code,
    last_attempt = EXCLUDED.last_attempt,
    attempts = left(d.attempts, -1) || (
      SELECT string_agg(',' || a.entry::text, '' ORDER BY a.position)
        FROM json_array_elements(EXCLUDED.attempts::json) WITH ORDINALITY AS a (entry, position)
       WHERE (a.entry ->> 0)::integer > d.last_attempt) || ']'
  WHERE EXCLUDED.last_attempt > d.last_attempt`;

/** The parameters of UPSERT_DELIVERIES; no delivery may be in it twice. */
export const upsertParameters = (deliveries: readonly FoldedDelivery[]): unknown[] =>
  COLUMNS.map(({ valueOf }) => deliveries.map(valueOf));

/**
 * Which of the given deliveries exist, as their positions in the parameters from 1 on. A scalar subquery, because it is
 * always run as one look-up in one day's primary key; an EXISTS may be turned into a scan of everything.
 */
export const FIND_KNOWN_DELIVERIES = `
  SELECT b.position::integer AS position
    FROM unnest($1::uuid[], $2::integer[], $3::timestamptz[])
         WITH ORDINALITY AS b (event_id, series, first_attempt_at, position)
   WHERE (SELECT true FROM deliveries k
           WHERE k.event_id = b.event_id AND k.series = b.series AND k.first_attempt_at = b.first_attempt_at)`;

export const findKnownParameters = (deliveries: readonly FoldedDelivery[]): unknown[] => [
  deliveries.map(({ eventId }) => eventId),
  deliveries.map(({ series }) => series),
  deliveries.map(({ firstAttemptAt }) => at(firstAttemptAt)),
];
