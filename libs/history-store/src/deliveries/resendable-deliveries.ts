/** SQL by hand: each list is one range of one index, with a limit on what is read, which TypeORM cannot ensure. */
import { type PageSource, type PreparedQuery, storableText } from '@waypost/database';
import { DELIVERY_STATUSES, type DeliveryQuery } from '@waypost/domain';
import { instant } from '../sql/instant.js';
import { SqlParameters } from '../sql/sql-parameters.js';
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
  const { fleetId, subscriptionId, startAt, replayedFrom, status, statusCode } = query;
  const goesByLatest = replayedFrom !== null && (status !== undefined || statusCode !== undefined);
  const parameters = new SqlParameters();
  const owner = {
    fleet_id: parameters.add(storableText(fleetId)),
    subscription_id: parameters.add(storableText(subscriptionId)),
  };
  const filters = filtersOf(query, parameters);
  const replay = { key: keyOf(query), owner, filters, isInWindow: windowOf(query, parameters) };
  const limits = {
    most: parameters.add(query.most, 'integer'),
    mostRead: parameters.add(goesByLatest ? query.mostLookedUp : query.mostRead, 'integer'),
  };
  const text = goesByLatest
    ? latestText(replay, sinceReplays(Math.max(startAt, replayedFrom), parameters), limits)
    : countText({ firsts: firstsText(replay) }, FIRSTS, limits);
  const shape = Object.keys(filters).map((column) => (column === 'status' ? status : column));
  const name = ['resendable', replay.key, ...shape, ...(goesByLatest ? ['latest'] : [])].join(' ');
  return { name, text, parameters: parameters.values };
}

/** The SQL of what a replay selects. */
interface ReplaySql {
  readonly key: DeliveryKeyName;
  readonly owner: Readonly<Record<'fleet_id' | 'subscription_id', string>>;
  readonly filters: Pick<Values, 'status_code' | 'device_id' | 'status'>;
  readonly isInWindow: (time: string) => string;
}

interface LimitSql {
  readonly most: string;
  readonly mostRead: string;
}

function filtersOf({ status, statusCode, deviceId }: ResendableQuery, parameters: SqlParameters): ReplaySql['filters'] {
  return {
    ...(statusCode === undefined ? {} : { status_code: parameters.add(statusCode, 'integer') }),
    ...(deviceId === undefined ? {} : { device_id: parameters.add(storableText(deviceId)) }),
    ...(status === undefined ? {} : { status: `'${status}'` }),
  };
}

function windowOf({ startAt, endAt }: ResendableQuery, parameters: SqlParameters): ReplaySql['isInWindow'] {
  const start = parameters.add(instant(startAt), 'timestamptz');
  const end = parameters.add(instant(endAt), 'timestamptz');
  return (time) => `${time} >= ${start} AND ${time} < ${end}`;
}

/** A replay is requested before it sends anything. */
function sinceReplays(replayedFrom: number, parameters: SqlParameters): string {
  return `${parameters.add(instant(replayedFrom), 'timestamptz')} - ${CLOCK_TOLERANCE}`;
}

function keyOf({ deviceId, statusCode }: ResendableQuery): DeliveryKeyName {
  if (deviceId !== undefined) return 'device';
  return statusCode === undefined ? 'subscription' : 'subscriptionAndCode';
}

/** One range of the index, or one of each status where the key has it. */
function listText({ key, owner, filters }: ReplaySql, window: string): string {
  const values = { ...owner, ...filters };
  const { facets }: { readonly facets: readonly Facet[] } = DELIVERY_KEYS[key];
  const isByStatus = facets.includes('status') && values.status === undefined;
  const lists = isByStatus ? DELIVERY_STATUSES.map((status) => ({ ...values, status: `'${status}'` })) : [values];
  const texts = lists.map((list) => {
    const where = [...keyConditions(key, list), ...conditions(list), window].join(' AND ');
    return `SELECT event_id, series, event_type FROM fleet_deliveries AS deliveries WHERE ${where}`;
  });
  return texts.join(' UNION ALL ');
}

function firstsText(replay: ReplaySql): string {
  return listText(replay, replay.isInWindow('first_attempt_at'));
}

/** Rows that are read and left out count as read: a replay of everything doubles them. */
function countText(lists: Readonly<Record<string, string>>, matching: string, limits: LimitSql): string {
  const { most, mostRead } = limits;
  const read = Object.entries(lists).map(
    ([name, list]) => `${name} AS MATERIALIZED (SELECT * FROM (${list}) AS listed LIMIT ${mostRead} + 1)`,
  );
  const isCut = Object.keys(lists).map((name) => `(SELECT count(*) FROM ${name}) > ${mostRead}`);
  return `WITH ${read.join(', ')}
    SELECT least(matched, ${most})::integer AS deliveries,
           matched > ${most} OR ${isCut.join(' OR ')} AS has_more
      FROM (SELECT count(*) AS matched FROM (${matching} LIMIT ${most} + 1) AS matching) AS counted`;
}

const FIRSTS = "SELECT event_id FROM firsts WHERE series = 0 AND event_type <> 'test'";
const FLEET_OFF_INDEX = fleetOffIndex();

/** Candidates without a later series are those whose first sending has the result. */
function latestText(replay: ReplaySql, since: string, limits: LimitSql): string {
  const { status, status_code: code, device_id: device } = replay.filters;
  const hasFirst = hasFirstInWindow(replay);
  const replayed = `SELECT event_id FROM replayed AS again
  WHERE series > 0 AND event_type <> 'test' AND ${hasFirst}`;
  const ofDevice = device === undefined ? '' : `device_id = ${device} AND `;
  const waiting = `SELECT event_id FROM waiting AS again WHERE series > 0 AND ${ofDevice}${hasFirst}`;
  // A delivery without an attempt has no code.
  const isOfWaiting = status === "'pending'" && code === undefined;
  const candidates = [FIRSTS, replayed, ...(isOfWaiting ? [waiting] : [])].join(' UNION ');
  const hasResult = [
    ...(status === undefined ? [] : [`latest.status = ${status}`]),
    ...(code === undefined ? [] : [`latest.status_code = ${code}`]),
  ].join(' AND ');
  const latest = latestSeries(since);
  return countText(
    {
      firsts: firstsText(replay),
      replayed: listText(replay, `first_attempt_at >= ${since}`),
      ...(isOfWaiting ? { waiting: waitingText(replay, since) } : {}),
    },
    `SELECT true FROM (${candidates}) AS candidates LEFT JOIN LATERAL ${latest} AS latest ON true
      WHERE latest.status IS NULL OR (${hasResult})`,
    limits,
  );
}

function waitingText({ owner }: ReplaySql, since: string): string {
  const { fleet_id: fleet, subscription_id: subscription } = owner;
  return `SELECT event_id, series, device_id FROM fleet_waiting_deliveries
  WHERE ${FLEET_OFF_INDEX} = ${fleet} AND subscription_id = ${subscription} AND created_at >= ${since}`;
}

/** A lookup by primary key per day; a join could become a full scan. */
function hasFirstInWindow({ isInWindow }: ReplaySql): string {
  const window = isInWindow('first.first_attempt_at');
  return `(SELECT true FROM fleet_deliveries AS first
  WHERE first.event_id = again.event_id AND first.series = 0
    AND ${window} LIMIT 1)`;
}

/** Two lookups by primary key. A waiting row stays until its delivery ends: an attempt of the same series is newer. */
function latestSeries(since: string): string {
  return `(SELECT status, status_code FROM (
    (SELECT series, true AS is_attempted, status, status_code FROM fleet_deliveries AS later
      WHERE later.event_id = candidates.event_id AND series > 0 AND first_attempt_at >= ${since}
      ORDER BY series DESC LIMIT 1)
    UNION ALL
    (SELECT series, false, 'pending', NULL FROM fleet_waiting_deliveries AS later
      WHERE later.event_id = candidates.event_id AND series > 0 AND created_at >= ${since}
      ORDER BY series DESC LIMIT 1)) AS sent_again
  ORDER BY series DESC, is_attempted DESC LIMIT 1)`;
}
