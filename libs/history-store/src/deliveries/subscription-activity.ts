/**
 * SQL by hand: four look-ups in the index of pages by subscription and status, in one statement.
 */
import { type PageSource, type PreparedQuery, storableText } from '@waypost/database';
import { type DeliveryStatus, MAX_COUNTED_PENDING, type SubscriptionActivity } from '@waypost/domain';
import { explainQuery, instant, type PlanNode } from '../pages/page-sql.js';
import { DELIVERY_KEYS, hashedKey } from './delivery-keys.js';

/** The deliveries of a subscription whose first attempt is in [startAt, endAt). */
export interface ActivityQuery {
  readonly fleetId: string;
  readonly subscriptionId: string;
  readonly startAt: number;
  readonly endAt: number;
}

export interface SubscriptionActivities {
  read(query: ActivityQuery): Promise<SubscriptionActivity>;
}

export function createSubscriptionActivities({ pages }: { readonly pages: PageSource }): SubscriptionActivities {
  return {
    async read(query) {
      const [row] = await pages.read<ActivityRow>(activitySql(query));
      return {
        lastSuccessAt: row?.last_success_at?.getTime() ?? null,
        unacceptedSince: row?.unaccepted_since?.getTime() ?? null,
        pending: Number(row?.pending ?? 0),
        oldestPendingAt: row?.oldest_pending_at?.getTime() ?? null,
      };
    },
  };
}

/** Runs the query and returns the nodes of its plan. */
export function explainActivity(pages: PageSource, query: ActivityQuery): Promise<readonly PlanNode[]> {
  return explainQuery(pages, activitySql(query));
}

interface ActivityRow {
  readonly last_success_at: Date | null;
  readonly unaccepted_since: Date | null;
  /** bigint, which pg reads as text. */
  readonly pending: string;
  readonly oldest_pending_at: Date | null;
}

function activitySql({ fleetId, subscriptionId, startAt, endAt }: ActivityQuery): PreparedQuery {
  const parameters = [storableText(fleetId), storableText(subscriptionId), instant(startAt), instant(endAt)];
  return { name: 'activity', text: TEXT, parameters };
}

/** Hashes can collide, so the row itself is checked too. */
function deliveriesOf(status: DeliveryStatus, from = '$3'): string {
  const values = { fleet_id: '$1', subscription_id: '$2', status: `'${status}'` };
  const { facets } = DELIVERY_KEYS.subscription;
  const key = `${hashedKey(facets, (column) => column)} = ${hashedKey(facets, (column) => values[column as keyof typeof values])}`;
  return `deliveries WHERE ${key} AND fleet_id = $1 AND subscription_id = $2 AND status = '${status}'
    AND first_attempt_at >= ${from} AND first_attempt_at < $4::timestamptz`;
}

function oldest(status: DeliveryStatus): string {
  const from = 'coalesce((SELECT delivered_at FROM success), $3::timestamptz)';
  return `(SELECT first_attempt_at FROM ${deliveriesOf(status, from)} ORDER BY first_attempt_at LIMIT 1)`;
}

const TEXT = `
  WITH success AS MATERIALIZED (
    SELECT delivered_at FROM ${deliveriesOf('delivered', '$3::timestamptz')} ORDER BY first_attempt_at DESC LIMIT 1
  ), waiting AS MATERIALIZED (
    SELECT created_at FROM ${deliveriesOf('pending', '$3::timestamptz')}
    ORDER BY first_attempt_at LIMIT ${String(MAX_COUNTED_PENDING)}
  )
  SELECT (SELECT delivered_at FROM success) AS last_success_at,
    (SELECT min(first_attempt_at) FROM (${oldest('failed')} UNION ALL ${oldest('pending')}) AS begun) AS unaccepted_since,
    (SELECT count(*) FROM waiting) AS pending,
    (SELECT min(created_at) FROM waiting) AS oldest_pending_at`;
