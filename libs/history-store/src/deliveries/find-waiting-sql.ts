/** SQL by hand: a keyset page reads one ordered range of the index by fleet and creation (R-34). */
import { type PreparedQuery, storableText } from '@waypost/database';
import { type DeliveryQuery, isUuid } from '@waypost/domain';
import { instant } from '../sql/instant.js';
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

/** Waiting deliveries (R-33) with their current state; null: nothing can match. Few unless much waits: filters check row by row. */
export function findWaitingSql(query: DeliveryQuery, maxBytes: number): PreparedQuery | null {
  const { eventId, status = 'pending', statusCode, order = 'asc', after, endAt, startAt } = query;
  const { eventTypes: types = [] } = query;
  if (status !== 'pending' || statusCode !== undefined || endAt <= startAt) return null;
  if (eventId !== undefined && !isUuid(eventId)) return null;

  const parameters: unknown[] = [];
  const parameter = (value: unknown): string => `$${String(parameters.push(value))}`;
  const isDescending = order === 'desc';
  const direction = isDescending ? ' DESC' : '';
  const most = `${parameter(query.limit)}::integer`;
  const filters: readonly (readonly [name: string, sql: (value: string) => string, value: unknown])[] = [
    ['dev', (value) => `w.device_id = ${value}`, query.deviceId && storableText(query.deviceId)],
    ['sub', (value) => `w.subscription_id = ${value}`, query.subscriptionId && storableText(query.subscriptionId)],
    ['subs', (value) => `w.subscription_id = ANY (${value}::text[])`, query.subscriptionIds?.map(storableText)],
    ['id', (value) => `w.event_id = ${value}::uuid`, eventId],
    [
      'types',
      (value) => `w.event_type = ANY (${value}::text[])`,
      types.length === 0 ? undefined : types.map(storableText),
    ],
  ];
  const start = `${parameter(instant(startAt))}::timestamptz`;
  const end = `${parameter(instant(endAt))}::timestamptz`;
  /** Never by first attempt alone: one made during a walk would take the delivery out of its window (R-34). */
  const isIn = (time: string): string => `${time} >= ${start} AND ${time} < ${end}`;
  const given = filters.filter(([, , value]) => value !== undefined);
  const conditions = [
    // One event is found by the primary key.
    `${eventId === undefined ? 'w.fleet_id' : fleetOffIndex('w.fleet_id')} = ${parameter(storableText(query.fleetId))}`,
    ...given.map(([, sql, value]) => sql(parameter(value))),
    "(d.status IS NULL OR d.status = 'pending')",
    `(${isIn('w.created_at')} OR ${isIn('d.first_attempt_at')})`,
    ...(after === undefined
      ? []
      : [
          `(w.created_at, w.event_id, w.series) ${isDescending ? '<' : '>'} (${[
            `${parameter(instant(after.firstAttemptAt))}::timestamptz`,
            `${parameter(after.eventId)}::uuid`,
            `${parameter(after.series)}::integer`,
          ].join(', ')})`,
        ]),
  ];
  const page = `SELECT ${SELECTED} FROM fleet_waiting_deliveries AS w
      LEFT JOIN LATERAL (SELECT * FROM fleet_deliveries
        WHERE event_id = w.event_id AND series = w.series AND first_attempt_at >= w.created_at - ${CLOCK_TOLERANCE}
        LIMIT 1) AS d ON true
     WHERE ${conditions.join(' AND ')}
     ORDER BY w.created_at${direction}, w.event_id${direction}, w.series${direction} LIMIT ${most} + 1`;
  const orderBy = `ORDER BY created_at${direction}, event_id${direction}, series${direction}`;
  const name = ['waiting', order, ...given.map(([short]) => short), ...(after === undefined ? [] : ['after'])].join(
    ' ',
  );
  return { name, text: boundedText(page, orderBy, { most, maxBytes: parameter(maxBytes) }), parameters };
}
