/** SQL by hand: a keyset page over two tables, read by their primary keys. */
import { type PreparedQuery, storableText } from '@waypost/database';
import { type EventQuery, isUuid } from '@waypost/domain';
import { instant } from '../sql/instant.js';
import { SqlParameters } from '../sql/sql-parameters.js';
import { fleetOffIndex, hasNoAttempt } from './delivery-conditions.js';
import { SINCE_ATTEMPT } from './find-waiting-sql.js';
import { boundedText, RECORD_COLUMNS, SELECTED } from './record-sql.js';

const SELECTED_WAITING = RECORD_COLUMNS.map((name) => {
  if (name === 'status') return "'pending' AS status";
  return SINCE_ATTEMPT.has(name) ? `NULL AS ${name}` : `w.${name}`;
}).join(', ');

const HAS_NO_ATTEMPT = hasNoAttempt('w', 'fleet_deliveries');

/**
 * One statement sees a delivery, attempted or not, in one of the two tables; null: nothing can match. There are few, so
 * filters are checked row by row.
 */
export function findEventSql(query: EventQuery, maxBytes: number): PreparedQuery | null {
  const { fleetId, subscriptionIds, eventId, startAt, afterSeries = -1, limit } = query;
  if (!isUuid(eventId)) return null;
  const parameters = new SqlParameters();
  const fleet = parameters.add(storableText(fleetId));
  const since = parameters.add(instant(startAt), 'timestamptz');
  const most = parameters.add(limit, 'integer');
  const conditions = [
    `event_id = ${parameters.add(eventId, 'uuid')}`,
    `series > ${parameters.add(afterSeries, 'integer')}`,
    `${fleetOffIndex()} = ${fleet}`,
    ...parameters.addIfGiven(
      subscriptionIds?.map(storableText),
      (subscriptions) => `subscription_id = ANY (${subscriptions})`,
      'text[]',
    ),
  ].join(' AND ');
  const bytes = parameters.add(maxBytes, 'bigint');
  const page = `(SELECT ${SELECTED} FROM fleet_deliveries
      WHERE ${conditions} AND first_attempt_at >= ${since} ORDER BY series LIMIT ${most} + 1)
    UNION ALL
    (SELECT ${SELECTED_WAITING} FROM fleet_waiting_deliveries AS w
      WHERE ${conditions} AND created_at >= ${since} AND ${HAS_NO_ATTEMPT} ORDER BY series LIMIT ${most} + 1)
    ORDER BY series LIMIT ${most} + 1`;
  const name = ['event by series', ...(subscriptionIds === undefined ? [] : ['subs'])].join(' ');
  return { name, text: boundedText(page, 'ORDER BY series', { most, maxBytes: bytes }), parameters: parameters.values };
}
