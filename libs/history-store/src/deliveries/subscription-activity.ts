/** SQL by hand: five lookups in the indexes by subscription, in one statement. */
import { type PageSource, type PreparedQuery, storableText } from '@waypost/database';
import {
  DECISIONS_WITHOUT_ATTEMPT,
  type DeliveryStatus,
  MAX_COUNTED_PENDING,
  type SubscriptionActivity,
} from '@waypost/domain';
import { instant } from '../sql/instant.js';
import { fleetOffIndex, IS_NOT_WAITING } from './delivery-conditions.js';
import { DELIVERY_KEYS, hashedKey } from './delivery-keys.js';

/** The subscription's deliveries whose first attempt, or creation while they wait for one, is in [startAt, endAt). */
export interface ActivityQuery {
  readonly fleetId: string;
  readonly subscriptionId: string;
  readonly startAt: number;
  readonly endAt: number;
}

export abstract class SubscriptionActivities {
  abstract read(query: ActivityQuery): Promise<SubscriptionActivity>;
}

export function createSubscriptionActivities({ pages }: { readonly pages: PageSource }): SubscriptionActivities {
  return {
    async read(query) {
      const [row] = await pages.read<ActivityRow>(query.fleetId, activitySql(query));
      return {
        lastSuccessAt: row?.last_success_at?.getTime() ?? null,
        unacceptedSince: row?.unaccepted_since?.getTime() ?? null,
        pending: Number(row?.pending ?? 0),
        oldestPendingAt: row?.oldest_pending_at?.getTime() ?? null,
      };
    },
  };
}

interface ActivityRow {
  readonly last_success_at: Date | null;
  readonly unaccepted_since: Date | null;
  /** bigint, which pg reads as text. */
  readonly pending: string;
  readonly oldest_pending_at: Date | null;
}

export function activitySql({ fleetId, subscriptionId, startAt, endAt }: ActivityQuery): PreparedQuery {
  const ids = [storableText(fleetId), storableText(subscriptionId)];
  const parameters = [...ids, instant(startAt), instant(endAt), MAX_COUNTED_PENDING];
  return { name: 'activity', text: TEXT, parameters };
}

/** Hashes can collide, so the row itself is checked too. */
function matching(status: DeliveryStatus): string {
  const values: Readonly<Record<string, string>> = { fleet_id: '$1', subscription_id: '$2', status: `'${status}'` };
  const { facets } = DELIVERY_KEYS.subscription;
  const hash = hashedKey(facets, (column) => column);
  const wanted = hashedKey(facets, (column) => values[column] ?? '');
  const columns = Object.entries(values).map(([column, value]) => `${column} = ${value}`);
  return [`${hash} = ${wanted}`, ...columns, 'first_attempt_at < $4::timestamptz'].join(' AND ');
}

const DELIVERED = matching('delivered');
const FAILED = matching('failed');
const PENDING = matching('pending');
const SINCE = 'first_attempt_at >= $3::timestamptz';
const SINCE_SUCCESS = 'first_attempt_at >= coalesce((SELECT delivered_at FROM success), $3::timestamptz)';

/** The limit for failed deliveries, oldest first: many may have ended without an attempt. */
const MAX_SEARCHED = 1_000;
const WAS_ATTEMPTED = `coalesce(attempts::json -> 0 ->> 7, '') NOT IN (${DECISIONS_WITHOUT_ATTEMPT.map((name) => `'${name}'`).join(', ')})`;

/**
 * No index has the time of acceptance. A retry may be accepted after deliveries that were begun later, so the newest of
 * these are compared.
 */
const MAX_COMPARED = 100;

const FLEET_OFF_INDEX = fleetOffIndex();

const TEXT = `
  WITH success AS MATERIALIZED (
    SELECT max(delivered_at) AS delivered_at FROM (
      SELECT delivered_at FROM fleet_deliveries
       WHERE ${DELIVERED} AND ${SINCE} ORDER BY first_attempt_at DESC LIMIT ${String(MAX_COMPARED)}) AS newest
  ), waiting AS MATERIALIZED (
    (SELECT created_at FROM fleet_waiting_deliveries
      WHERE ${FLEET_OFF_INDEX} = $1 AND subscription_id = $2 AND created_at >= $3::timestamptz AND created_at < $4::timestamptz
      ORDER BY created_at LIMIT $5)
    UNION ALL
    (SELECT created_at FROM fleet_deliveries AS deliveries
      WHERE ${PENDING} AND ${SINCE} AND ${IS_NOT_WAITING} ORDER BY first_attempt_at LIMIT $5)
  ), begun AS (
    (SELECT first_attempt_at FROM (
       SELECT first_attempt_at, attempts FROM fleet_deliveries
        WHERE ${FAILED} AND ${SINCE_SUCCESS} ORDER BY first_attempt_at LIMIT ${String(MAX_SEARCHED)}) AS failed
      WHERE ${WAS_ATTEMPTED} ORDER BY first_attempt_at LIMIT 1)
    UNION ALL
    (SELECT first_attempt_at FROM fleet_deliveries WHERE ${PENDING} AND ${SINCE_SUCCESS} ORDER BY first_attempt_at LIMIT 1)
  )
  SELECT (SELECT delivered_at FROM success) AS last_success_at,
    (SELECT min(first_attempt_at) FROM begun) AS unaccepted_since,
    least((SELECT count(*) FROM waiting), $5) AS pending,
    (SELECT min(created_at) FROM waiting) AS oldest_pending_at`;
