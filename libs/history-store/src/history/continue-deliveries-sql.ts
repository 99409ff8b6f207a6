import type { QueryConfig } from 'pg';
import { lastAttemptNumber, type FoldedDelivery } from './fold-attempts.js';
import { packedText } from './packed-attempts.js';

/**
 * Adds attempts to deliveries that exist and have none of them yet, and answers with the positions (from 1 on) of those
 * that it found. All deliveries must be of the day of `partition`: the statement names its table, so that neither the
 * planner nor the executor has to look at the other days. `attempts` are two JSON arrays put together.
 */
export function continueDeliveries(partition: string, deliveries: readonly FoldedDelivery[]): QueryConfig {
  return {
    // Prepared once a connection and day.
    name: `continue ${partition}`,
    text: `
      UPDATE ${partition} AS d SET
        url = b.url,
        last_attempt_at = b.last_attempt_at,
        delivered_at = b.delivered_at,
        next_attempt_at = b.next_attempt_at,
        status = b.status,
        status_code = b.status_code,
        last_attempt = b.last_attempt,
        attempts = left(d.attempts, -1) || ',' || substr(b.attempts, 2)
      FROM unnest($1::uuid[], $2::integer[], $3::timestamptz[], $4::integer[], $5::text[], $6::timestamptz[],
                  $7::timestamptz[], $8::timestamptz[], $9::text[], $10::integer[], $11::integer[], $12::text[])
           WITH ORDINALITY AS b (event_id, series, first_attempt_at, first_added, url, last_attempt_at,
                  delivered_at, next_attempt_at, status, status_code, last_attempt, attempts, position)
      WHERE d.event_id = b.event_id AND d.series = b.series AND d.first_attempt_at = b.first_attempt_at
        AND d.last_attempt < b.first_added
      RETURNING b.position::integer AS position`,
    values: VALUES.map((valueOf) => deliveries.map(valueOf)),
  };
}

const at = (epochMs: number): string => new Date(epochMs).toISOString();
const atOrNull = (epochMs: number | null): string | null => (epochMs === null ? null : at(epochMs));

/** $1 to $12. */
const VALUES: readonly ((delivery: FoldedDelivery) => string | number | null)[] = [
  ({ eventId }) => eventId,
  ({ series }) => series,
  ({ firstAttemptAt }) => at(firstAttemptAt),
  ({ attempts }) => attempts[0]?.attempt ?? 0,
  ({ url }) => url,
  ({ lastAttemptAt }) => at(lastAttemptAt),
  ({ deliveredAt }) => atOrNull(deliveredAt),
  ({ nextAttemptAt }) => atOrNull(nextAttemptAt),
  ({ status }) => status,
  ({ statusCode }) => statusCode,
  lastAttemptNumber,
  ({ attempts }) => packedText(attempts),
];
