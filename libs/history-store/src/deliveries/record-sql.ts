/** Raw SQL shared by all pages of deliveries, whichever table they read. */

/** More than the other columns of a row take, with what a page adds around them. */
export const FIXED_RECORD_BYTES = 1_024;

/** PostgreSQL knows the length of a value stored apart from its row without reading it. */
const RECORD_BYTES = `octet_length(body) + coalesce(octet_length(attempts) + octet_length(url), 0) + ${String(FIXED_RECORD_BYTES)}`;

export const RECORD_COLUMNS = [
  ...['event_id', 'first_attempt_at', 'last_attempt_at', 'event_time', 'created_at', 'delivered_at', 'next_attempt_at'],
  ...[
    'series',
    'status_code',
    'fleet_id',
    'device_id',
    'subscription_id',
    'event_type',
    'format',
    'status',
    'replay_id',
  ],
  ...['url', 'body', 'attempts'],
];
export const SELECTED = RECORD_COLUMNS.join(', ');

/**
 * The rows of a page that fit into its bytes, at least the first (R-34a). Lengths alone decide: a long body that is
 * left out is never read.
 */
export function boundedText(
  page: string,
  orderBy: string,
  { most, maxBytes }: { readonly most: string; readonly maxBytes: string },
): string {
  return `SELECT * FROM (
      SELECT page.*, (row_number() OVER so_far)::integer AS place, sum(${RECORD_BYTES}) OVER so_far AS bytes,
             lead(true, 1, false) OVER so_far AS has_more
        FROM (${page}) AS page WINDOW so_far AS (${orderBy} ROWS UNBOUNDED PRECEDING)) AS measured
     WHERE place <= ${most} AND (place = 1 OR bytes <= ${maxBytes})`;
}
