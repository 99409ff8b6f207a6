/** SQL by hand: a keyset page reads one ordered range of the index by fleet and creation. */
import { type PreparedQuery, storableText } from '@waypost/database';
import { type DeliveryPosition, type DeliveryQuery, isUuid } from '@waypost/domain';
import { instant } from '../sql/instant.js';
import { SqlParameters, type SqlType } from '../sql/sql-parameters.js';
import { CLOCK_TOLERANCE, conditions, fleetOffIndex, keyConditions } from './delivery-conditions.js';
import { boundedText, RECORD_COLUMNS } from './record-sql.js';

/** Columns that a delivery has from its first attempt on. */
export const SINCE_ATTEMPT: ReadonlySet<string> = new Set([
  'first_attempt_at',
  'last_attempt_at',
  'delivered_at',
  'next_attempt_at',
  'status_code',
  'url',
  'attempts',
]);

const SELECTED = RECORD_COLUMNS.map((name) => {
  if (name === 'status') return "'pending' AS status";
  return `${SINCE_ATTEMPT.has(name) ? 'd' : 'w'}.${name}`;
}).join(', ');

/** The row of the same delivery with its attempts, if it has any. */
const ATTEMPTED = `(SELECT * FROM fleet_deliveries
        WHERE event_id = w.event_id AND series = w.series AND first_attempt_at >= w.created_at - ${CLOCK_TOLERANCE}
        LIMIT 1)`;
const IS_PENDING = "(d.status IS NULL OR d.status = 'pending')";

/**
 * Waiting deliveries with their current state; null: nothing can match. Two lists of the window: those created in it,
 * and the few that were first attempted in it and still wait. Filters check row by row.
 */
export function findWaitingSql(query: DeliveryQuery, maxBytes: number): PreparedQuery | null {
  const { eventId, status = 'pending', statusCode, order = 'asc', after } = query;
  if (status !== 'pending' || statusCode !== undefined || query.endAt <= query.startAt) return null;
  if (eventId !== undefined && !isUuid(eventId)) return null;

  const parameters = new SqlParameters();
  const filters = givenFilters(query);
  const window = windowOf(query, parameters);
  const fleet = parameters.add(storableText(query.fleetId));
  const event = eventId === undefined ? null : parameters.add(eventId, 'uuid');
  const ofAll = [
    event === null ? `w.fleet_id = ${fleet}` : `${fleetOffIndex('w.fleet_id')} = ${fleet} AND w.event_id = ${event}`,
    ...filters.map(({ value, type, condition }) => condition(parameters.add(value, type))),
    ...(after === undefined ? [] : [isAfter(after, order, parameters)]),
  ].join(' AND ');
  const most = parameters.add(query.limit, 'integer');
  const bytes = parameters.add(maxBytes, 'bigint');
  const page = (rows: string): string => `${rows} ${orderBy(order)} LIMIT ${most} + 1`;
  const created = page(`${createdIn(window)} AND ${ofAll}`);
  const attempted = page(`${attemptedIn(window, fleet, event)} AND ${ofAll}`);
  const rows = `SELECT * FROM ((${created}) UNION ALL (${attempted})) AS waiting`;
  return {
    name: nameOf(query, filters),
    text: boundedText(page(rows), orderBy(order), { most, maxBytes: bytes }),
    parameters: parameters.values,
  };
}

function nameOf({ order = 'asc', eventId, after }: DeliveryQuery, filters: readonly Filter[]): string {
  const names = ['waiting', order, eventId && 'id', ...filters.map(({ name }) => name), after && 'after'];
  return names.filter((name) => name !== undefined).join(' ');
}

/** A condition on a time. */
type Window = (time: string) => string;

function windowOf({ startAt, endAt }: DeliveryQuery, parameters: SqlParameters): Window {
  const start = parameters.add(instant(startAt), 'timestamptz');
  const end = parameters.add(instant(endAt), 'timestamptz');
  return (time) => `${time} >= ${start} AND ${time} < ${end}`;
}

/** Never by first attempt alone: one made during a walk would take the delivery out of its window. */
function createdIn(window: Window): string {
  return `SELECT ${SELECTED} FROM fleet_waiting_deliveries AS w LEFT JOIN LATERAL ${ATTEMPTED} AS d ON true
       WHERE ${window('w.created_at')} AND ${IS_PENDING}`;
}

/**
 * From the pending deliveries of the window, which the reservations of senders bound: all that waits from before it may be
 * hundreds of thousands.
 */
function attemptedIn(window: Window, fleet: string, event: string | null): string {
  const pending = { fleet_id: fleet, status: "'pending'" };
  const found = event === null ? keyConditions('status', pending) : [`event_id = ${event}`];
  const all = [...found, ...conditions(pending), window('first_attempt_at')].join(' AND ');
  return `SELECT ${SELECTED} FROM (SELECT * FROM fleet_deliveries WHERE ${all}) AS d
             CROSS JOIN LATERAL
             (SELECT * FROM fleet_waiting_deliveries
               WHERE event_id = d.event_id AND series = d.series AND created_at = d.created_at LIMIT 1) AS w
       WHERE NOT (${window('w.created_at')})`;
}

interface Filter {
  /** In the name of the statement. */
  readonly name: string;
  readonly value: unknown;
  readonly type?: SqlType;
  readonly condition: (place: string) => string;
}

function givenFilters(query: DeliveryQuery): Filter[] {
  const { deviceId, subscriptionId, subscriptionIds, eventTypes = [] } = query;
  const filters: readonly Filter[] = [
    { name: 'dev', value: deviceId && storableText(deviceId), condition: (id) => `w.device_id = ${id}` },
    {
      name: 'sub',
      value: subscriptionId && storableText(subscriptionId),
      condition: (id) => `w.subscription_id = ${id}`,
    },
    {
      name: 'subs',
      value: subscriptionIds?.map(storableText),
      type: 'text[]',
      condition: (ids) => `w.subscription_id = ANY (${ids})`,
    },
    {
      name: 'types',
      value: eventTypes.length === 0 ? undefined : eventTypes.map(storableText),
      type: 'text[]',
      condition: (types) => `w.event_type = ANY (${types})`,
    },
  ];
  return filters.filter(({ value }) => value !== undefined);
}

function isAfter(position: DeliveryPosition, order: 'asc' | 'desc', parameters: SqlParameters): string {
  const createdAt = parameters.add(instant(position.firstAttemptAt), 'timestamptz');
  const eventId = parameters.add(position.eventId, 'uuid');
  const series = parameters.add(position.series, 'integer');
  const comparison = order === 'desc' ? '<' : '>';
  return `(w.created_at, w.event_id, w.series) ${comparison} (${createdAt}, ${eventId}, ${series})`;
}

function orderBy(order: 'asc' | 'desc'): string {
  const columns = ['created_at', 'event_id', 'series'].map((column) => `${column}${order === 'desc' ? ' DESC' : ''}`);
  return `ORDER BY ${columns.join(', ')}`;
}
