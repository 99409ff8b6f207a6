/**
 * SQL by hand: each list is one range of one index, and stops at the most that is counted, which TypeORM cannot ensure.
 */
import { type PageSource, type PreparedQuery, storableText } from '@waypost/database';
import type { DeliveryQuery, DeliveryStatus } from '@waypost/domain';
import { instant } from '../pages/page-sql.js';
import { DELIVERY_KEYS, type DeliveryKeyName, type Facet, hashedKey } from './delivery-keys.js';

/** What a replay of one subscription selects, in [startAt, endAt). */
export interface ResendableQuery extends Pick<
  DeliveryQuery,
  'fleetId' | 'startAt' | 'endAt' | 'status' | 'statusCode' | 'deviceId'
> {
  readonly subscriptionId: string;
  /** Above this, it is not counted further. */
  readonly most: number;
}

export abstract class ResendableDeliveries {
  /** At most one more than `most`. */
  abstract count(query: ResendableQuery): Promise<number>;
}

export function createResendableDeliveries({ pages }: { readonly pages: PageSource }): ResendableDeliveries {
  return {
    async count(query) {
      const [row] = await pages.read<{ readonly matched: number }>(query.fleetId, resendableSql(query));
      return row?.matched ?? 0;
    },
  };
}

const STATUSES = ['pending', 'delivered', 'failed'] as const satisfies DeliveryStatus[];

/** A look-up by primary key, day by day; a join may become a scan of everything. */
const IS_LATEST = `(SELECT true FROM fleet_deliveries AS later
  WHERE later.event_id = deliveries.event_id AND later.series > deliveries.series
    AND later.first_attempt_at >= deliveries.first_attempt_at LIMIT 1) IS NULL`;
const HAS_FIRST_IN_WINDOW = `(deliveries.series = 0 OR (SELECT true FROM fleet_deliveries AS first
  WHERE first.event_id = deliveries.event_id AND first.series = 0
    AND first.first_attempt_at >= $3::timestamptz AND first.first_attempt_at < $4::timestamptz LIMIT 1))`;

/**
 * Only first deliveries are sent again. Their result is that of their latest series, so with a result in the filter that series is
 * looked for: one that began after the window does not count.
 */
export function resendableSql(query: ResendableQuery): PreparedQuery {
  const { fleetId, subscriptionId, startAt, endAt, most, status, statusCode, deviceId } = query;
  const ids = [storableText(fleetId), storableText(subscriptionId)];
  const parameters: unknown[] = [...ids, instant(startAt), instant(endAt), most];
  const parameter = (value: unknown): string => `$${String(parameters.push(value))}`;
  const given: Values = {
    ...(statusCode === undefined ? {} : { status_code: `${parameter(statusCode)}::integer` }),
    ...(deviceId === undefined ? {} : { device_id: parameter(storableText(deviceId)) }),
  };
  const key = keyOf(query);
  const hasResult = status !== undefined || statusCode !== undefined;
  const statuses = status === undefined ? STATUSES : [status];
  const isByStatus = key === 'subscription' || status !== undefined;
  const lists = isByStatus ? statuses.map((one) => listSql(key, { ...given, status: `'${one}'` }, hasResult)) : [];
  return {
    name: ['resendable', key, ...(status === undefined ? [] : [status]), ...Object.keys(given)].join(' '),
    text: `SELECT count(*)::integer AS matched FROM
      (${isByStatus ? lists.join(' UNION ALL ') : listSql(key, given, hasResult)} LIMIT $5::integer + 1) AS matching`,
    parameters,
  };
}

function keyOf({ deviceId, statusCode }: ResendableQuery): DeliveryKeyName {
  if (deviceId !== undefined) return 'device';
  return statusCode === undefined ? 'subscription' : 'subscriptionAndCode';
}

/** The SQL of each given value. */
type Values = Readonly<Partial<Record<Facet, string>>>;

function listSql(key: DeliveryKeyName, given: Values, hasResult: boolean): string {
  const values: Readonly<Partial<Record<Facet | 'fleet_id', string>>> = {
    fleet_id: '$1',
    subscription_id: '$2',
    ...given,
  };
  const { facets } = DELIVERY_KEYS[key];
  const hash = hashedKey(facets, (column) => column);
  const wanted = hashedKey(facets, (column) => values[column] ?? '');
  const conditions = [
    // Hashes can collide, so the row itself is checked too.
    `${hash} = ${wanted}`,
    ...Object.entries(values).map(([column, value]) => `${column} = ${value}`),
    'first_attempt_at >= $3::timestamptz AND first_attempt_at < $4::timestamptz',
    "event_type <> 'test'",
    ...(hasResult ? [IS_LATEST, HAS_FIRST_IN_WINDOW] : ['series = 0']),
  ];
  return `SELECT true FROM fleet_deliveries AS deliveries WHERE ${conditions.join(' AND ')}`;
}
