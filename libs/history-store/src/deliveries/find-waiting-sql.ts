/** SQL by hand: a keyset page reads one ordered range of the index by fleet and creation. */
import { type PreparedQuery, storableText } from '@waypost/database';
import { type DeliveryPosition, type DeliveryQuery, isUuid } from '@waypost/domain';
import { instant } from '../sql/instant.js';
import { SqlParameters, type SqlType } from '../sql/sql-parameters.js';
import { CLOCK_TOLERANCE, fleetOffIndex } from './delivery-conditions.js';
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

/** Waiting deliveries with their current state; null: nothing can match. Few unless much waits: filters check row by row. */
export function findWaitingSql(query: DeliveryQuery, maxBytes: number): PreparedQuery | null {
  const { eventId, status = 'pending', statusCode, order = 'asc', after } = query;
  if (status !== 'pending' || statusCode !== undefined || query.endAt <= query.startAt) return null;
  if (eventId !== undefined && !isUuid(eventId)) return null;

  const parameters = new SqlParameters();
  const filters = givenFilters(query);
  const conditions = [
    isOfFleet(query, parameters),
    ...filters.map(({ value, type, condition }) => condition(parameters.add(value, type))),
    IS_PENDING,
    isInWindow(query, parameters),
    ...(after === undefined ? [] : [isAfter(after, order, parameters)]),
  ].join(' AND ');
  const most = parameters.add(query.limit, 'integer');
  const bytes = parameters.add(maxBytes, 'bigint');
  const page = `SELECT ${SELECTED} FROM fleet_waiting_deliveries AS w LEFT JOIN LATERAL ${ATTEMPTED} AS d ON true
     WHERE ${conditions} ${orderBy('w.', order)} LIMIT ${most} + 1`;
  return {
    name: ['waiting', order, ...filters.map(({ name }) => name), ...(after === undefined ? [] : ['after'])].join(' '),
    text: boundedText(page, orderBy('', order), { most, maxBytes: bytes }),
    parameters: parameters.values,
  };
}

interface Filter {
  /** In the name of the statement. */
  readonly name: string;
  readonly value: unknown;
  readonly type?: SqlType;
  readonly condition: (place: string) => string;
}

function givenFilters(query: DeliveryQuery): Filter[] {
  const { deviceId, subscriptionId, subscriptionIds, eventId, eventTypes = [] } = query;
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
    { name: 'id', value: eventId, type: 'uuid', condition: (id) => `w.event_id = ${id}` },
    {
      name: 'types',
      value: eventTypes.length === 0 ? undefined : eventTypes.map(storableText),
      type: 'text[]',
      condition: (types) => `w.event_type = ANY (${types})`,
    },
  ];
  return filters.filter(({ value }) => value !== undefined);
}

/** One event is found by the primary key. */
function isOfFleet({ fleetId, eventId }: DeliveryQuery, parameters: SqlParameters): string {
  const column = eventId === undefined ? 'w.fleet_id' : fleetOffIndex('w.fleet_id');
  return `${column} = ${parameters.add(storableText(fleetId))}`;
}

/** Never by first attempt alone: one made during a walk would take the delivery out of its window. */
function isInWindow({ startAt, endAt }: DeliveryQuery, parameters: SqlParameters): string {
  const start = parameters.add(instant(startAt), 'timestamptz');
  const end = parameters.add(instant(endAt), 'timestamptz');
  const isIn = (time: string): string => `${time} >= ${start} AND ${time} < ${end}`;
  return `(${isIn('w.created_at')} OR ${isIn('d.first_attempt_at')})`;
}

function isAfter(position: DeliveryPosition, order: 'asc' | 'desc', parameters: SqlParameters): string {
  const createdAt = parameters.add(instant(position.firstAttemptAt), 'timestamptz');
  const eventId = parameters.add(position.eventId, 'uuid');
  const series = parameters.add(position.series, 'integer');
  const comparison = order === 'desc' ? '<' : '>';
  return `(w.created_at, w.event_id, w.series) ${comparison} (${createdAt}, ${eventId}, ${series})`;
}

function orderBy(table: '' | 'w.', order: 'asc' | 'desc'): string {
  const columns = ['created_at', 'event_id', 'series'].map(
    (column) => `${table}${column}${order === 'desc' ? ' DESC' : ''}`,
  );
  return `ORDER BY ${columns.join(', ')}`;
}
