/** SQL by hand: each list is one range of one index, with a limit on what is read, which TypeORM cannot ensure. */
import { type PageSource, type PreparedQuery, storableText } from '@waypost/database';
import { DELIVERY_STATUSES, type DeliveryQuery } from '@waypost/domain';
import { instant } from '../sql/instant.js';
import { CLOCK_TOLERANCE, conditions, fleetOffIndex, keyConditions, type Values } from './delivery-conditions.js';
import { DELIVERY_KEYS, type DeliveryKeyName, type Facet } from './delivery-keys.js';

/** What a replay of one subscription selects, in [startAt, endAt). */
export interface ResendableQuery extends Pick<
  DeliveryQuery,
  'fleetId' | 'startAt' | 'endAt' | 'status' | 'statusCode' | 'deviceId'
> {
  readonly subscriptionId: string;
  /** When the subscription's first replay with deliveries that may be in the history was requested; null: never. */
  readonly replayedFrom: number | null;
  /** Counting stops here. */
  readonly most: number;
  /** The limit per list. */
  readonly mostRead: number;
  /** The limit per list whose rows are looked up by event: each costs up to two lookups per day. */
  readonly mostLookedUp: number;
}

export interface ResendableCount {
  readonly deliveries: number;
  /** Not everything was counted: there may be more. */
  readonly hasMore: boolean;
}

export abstract class ResendableDeliveries {
  abstract count(query: ResendableQuery): Promise<ResendableCount>;
}

export function createResendableDeliveries({ pages }: { readonly pages: PageSource }): ResendableDeliveries {
  return {
    async count(query) {
      const [row] = await pages.read<CountRow>(query.fleetId, resendableSql(query));
      return { deliveries: row?.deliveries ?? 0, hasMore: row?.has_more ?? false };
    },
  };
}

interface CountRow {
  readonly deliveries: number;
  readonly has_more: boolean;
}

/**
 * Only first deliveries are sent again. With a result filter the latest series counts, whenever it was sent, so
 * deliveries are considered if any of their series has that result.
 */
export function resendableSql(query: ResendableQuery): PreparedQuery {
  const { fleetId, subscriptionId, startAt, endAt, status, statusCode, deviceId, replayedFrom } = query;
  const ids = [storableText(fleetId), storableText(subscriptionId)];
  const goesByLatest = replayedFrom !== null && (status !== undefined || statusCode !== undefined);
  const most = [query.most, goesByLatest ? query.mostLookedUp : query.mostRead];
  const parameters: unknown[] = [...ids, instant(startAt), instant(endAt), ...most];
  if (goesByLatest) parameters.push(instant(Math.max(startAt, replayedFrom)));
  const parameter = (value: unknown): string => `$${String(parameters.push(value))}`;
  const given: Values = {
    ...(statusCode === undefined ? {} : { status_code: `${parameter(statusCode)}::integer` }),
    ...(deviceId === undefined ? {} : { device_id: parameter(storableText(deviceId)) }),
    ...(status === undefined ? {} : { status: `'${status}'` }),
  };
  const key = keyOf(query);
  const shape = Object.keys(given).map((column) => (column === 'status' ? status : column));
  const values = { fleet_id: '$1', subscription_id: '$2', ...given };
  return {
    name: ['resendable', key, ...shape, ...(goesByLatest ? ['latest'] : [])].join(' '),
    text: goesByLatest ? latestText(key, values) : countText({ firsts: listText(key, values, WINDOW) }, FIRSTS),
    parameters,
  };
}

function keyOf({ deviceId, statusCode }: ResendableQuery): DeliveryKeyName {
  if (deviceId !== undefined) return 'device';
  return statusCode === undefined ? 'subscription' : 'subscriptionAndCode';
}

/** One range of the index, or one of each status where the key has it. */
function listText(key: DeliveryKeyName, values: Values, window: string): string {
  const { facets }: { readonly facets: readonly Facet[] } = DELIVERY_KEYS[key];
  const isByStatus = facets.includes('status') && values.status === undefined;
  const lists = isByStatus ? DELIVERY_STATUSES.map((status) => ({ ...values, status: `'${status}'` })) : [values];
  const texts = lists.map((list) => {
    const where = [...keyConditions(key, list), ...conditions(list), window].join(' AND ');
    return `SELECT event_id, series, event_type FROM fleet_deliveries AS deliveries WHERE ${where}`;
  });
  return texts.join(' UNION ALL ');
}

/** Rows that are read and left out count as read: a replay of everything doubles them. */
function countText(lists: Readonly<Record<string, string>>, matching: string): string {
  const read = Object.entries(lists).map(
    ([name, list]) => `${name} AS MATERIALIZED (SELECT * FROM (${list}) AS listed LIMIT $6::integer + 1)`,
  );
  const isCut = Object.keys(lists).map((name) => `(SELECT count(*) FROM ${name}) > $6::integer`);
  return `WITH ${read.join(', ')}
    SELECT least(matched, $5::integer)::integer AS deliveries,
           matched > $5::integer OR ${isCut.join(' OR ')} AS has_more
      FROM (SELECT count(*) AS matched FROM (${matching} LIMIT $5::integer + 1) AS matching) AS counted`;
}

const WINDOW = 'first_attempt_at >= $3::timestamptz AND first_attempt_at < $4::timestamptz';
const FIRSTS = "SELECT event_id FROM firsts WHERE series = 0 AND event_type <> 'test'";

/** A replay is requested before it sends anything. */
const SINCE_REPLAYS = `$7::timestamptz - ${CLOCK_TOLERANCE}`;
/** A lookup by primary key per day; a join could become a full scan. */
const HAS_FIRST_IN_WINDOW = `(SELECT true FROM fleet_deliveries AS first
  WHERE first.event_id = again.event_id AND first.series = 0
    AND first.first_attempt_at >= $3::timestamptz AND first.first_attempt_at < $4::timestamptz LIMIT 1)`;
const REPLAYED = `SELECT event_id FROM replayed AS again
  WHERE series > 0 AND event_type <> 'test' AND ${HAS_FIRST_IN_WINDOW}`;
const FLEET_OFF_INDEX = fleetOffIndex();
const WAITING = `SELECT event_id, series, device_id FROM fleet_waiting_deliveries
  WHERE ${FLEET_OFF_INDEX} = $1 AND subscription_id = $2 AND created_at >= ${SINCE_REPLAYS}`;
/** Two lookups by primary key. A waiting row stays until its delivery ends: an attempt of the same series is newer. */
const LATEST = `(SELECT status, status_code FROM (
    (SELECT series, true AS is_attempted, status, status_code FROM fleet_deliveries AS later
      WHERE later.event_id = candidates.event_id AND series > 0 AND first_attempt_at >= ${SINCE_REPLAYS}
      ORDER BY series DESC LIMIT 1)
    UNION ALL
    (SELECT series, false, 'pending', NULL FROM fleet_waiting_deliveries AS later
      WHERE later.event_id = candidates.event_id AND series > 0 AND created_at >= ${SINCE_REPLAYS}
      ORDER BY series DESC LIMIT 1)) AS sent_again
  ORDER BY series DESC, is_attempted DESC LIMIT 1)`;

/** Candidates without a later series are those whose first sending has the result. */
function latestText(key: DeliveryKeyName, values: Values): string {
  const { status, status_code: code, device_id: device } = values;
  // A delivery without an attempt has no code.
  const isOfWaiting = status === "'pending'" && code === undefined;
  const lists = {
    firsts: listText(key, values, WINDOW),
    replayed: listText(key, values, `first_attempt_at >= ${SINCE_REPLAYS}`),
    ...(isOfWaiting ? { waiting: WAITING } : {}),
  };
  const ofDevice = device === undefined ? '' : `device_id = ${device} AND `;
  const waiting = `SELECT event_id FROM waiting AS again WHERE series > 0 AND ${ofDevice}${HAS_FIRST_IN_WINDOW}`;
  const candidates = [FIRSTS, REPLAYED, ...(isOfWaiting ? [waiting] : [])].join(' UNION ');
  const hasResult = [
    ...(status === undefined ? [] : [`latest.status = ${status}`]),
    ...(code === undefined ? [] : [`latest.status_code = ${code}`]),
  ].join(' AND ');
  return countText(
    lists,
    `SELECT true FROM (${candidates}) AS candidates LEFT JOIN LATERAL ${LATEST} AS latest ON true
      WHERE latest.status IS NULL OR (${hasResult})`,
  );
}
