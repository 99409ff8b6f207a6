import type { DeliveryPosition, DeliveryQuery, DeliveryStatus } from '@waypost/domain';
import { storableText } from './storable-text.js';

export interface SqlQuery {
  readonly text: string;
  readonly parameters: unknown[];
}

const SELECTED = `event_id, first_attempt_at, last_attempt_at, event_time, created_at, delivered_at, next_attempt_at,
  series, status_code, fleet_id, device_id, subscription_id, event_type, format, status, url, body, attempts`;

const ORDER = 'ORDER BY first_attempt_at, event_id, series';

const STATUSES = ['pending', 'delivered', 'failed'] satisfies DeliveryStatus[];

/** Years 1970 to 9999: what both ISO 8601 and PostgreSQL write with four digits. */
const LAST_INSTANT_MS = Date.UTC(10_000, 0) - 1;

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const INT4_MAX = 2_147_483_647;

/**
 * The query of one page; null when a filter has a value that no row can have and that the database
 * would refuse. Values are parameters only; the text depends on which filters are given, not on what they say.
 */
export function findDeliveriesSql(query: DeliveryQuery): SqlQuery | null {
  if (query.eventId !== undefined && !UUID.test(query.eventId)) return null;
  if (query.statusCode !== undefined && !isInt4(query.statusCode)) return null;

  const sql = createConditions();
  addWindow(sql, query);
  addFilters(sql, query);
  const limit = sql.parameter(query.limit);
  const types = [...new Set(query.eventTypes ?? [])].map(storableText);
  if (types.length > 1 && !isNarrow(query)) {
    return { text: mergedByType(sql, sql.parameter(types), limit), parameters: sql.parameters };
  }
  if (types.length === 1) sql.where('event_type =', types[0]);
  if (types.length > 1) sql.where('event_type = ANY', types);
  if (isUnfiltered(query)) return { text: mergedByStatus(sql, limit), parameters: sql.parameters };
  return { text: onePage(sql, limit), parameters: sql.parameters };
}

function addWindow(sql: Conditions, { fleetId, startAt, endAt, after }: DeliveryQuery): void {
  sql.where('fleet_id =', storableText(fleetId));
  // Also says the day to go on from: the planner cannot tell which partitions a row comparison rules out.
  sql.where('first_attempt_at >=', instant(Math.max(startAt, after?.firstAttemptAt ?? startAt)));
  sql.where('first_attempt_at <', instant(endAt));
  if (after !== undefined) sql.afterPosition(after);
}

function addFilters(sql: Conditions, query: DeliveryQuery): void {
  if (query.deviceId !== undefined) sql.where('device_id =', storableText(query.deviceId));
  if (query.subscriptionId !== undefined) sql.where('subscription_id =', storableText(query.subscriptionId));
  if (query.eventId !== undefined) sql.where('event_id =', query.eventId);
  if (query.statusCode !== undefined) addStatusCode(sql, query.statusCode);
  if (query.status !== undefined) sql.where('status =', query.status);
}

/** Delivered means 2xx; saying so lets the planner use the index of either side. */
function addStatusCode(sql: Conditions, statusCode: number): void {
  sql.where('status_code =', statusCode);
  sql.and(statusCode >= 200 && statusCode <= 299 ? "status = 'delivered'" : "status <> 'delivered'");
}

/** A filter that leaves few rows: several types are checked on those. */
const isNarrow = ({ deviceId, subscriptionId, eventId }: DeliveryQuery): boolean =>
  deviceId !== undefined || subscriptionId !== undefined || eventId !== undefined;

const isUnfiltered = (query: DeliveryQuery): boolean =>
  !isNarrow(query) &&
  query.status === undefined &&
  query.statusCode === undefined &&
  (query.eventTypes === undefined || query.eventTypes.length === 0);

const onePage = (sql: Conditions, limit: string): string =>
  `SELECT ${SELECTED} FROM deliveries WHERE ${sql.text()} ${ORDER} LIMIT ${limit}`;

/**
 * Several types: an index holds the rows of each type in page order but not those of all of them, so every type gives
 * the head of its own list, and the page is the head of these together.
 */
function mergedByType(sql: Conditions, types: string, limit: string): string {
  return `SELECT page.* FROM unnest(${types}::text[]) AS wanted (wanted_type)
    CROSS JOIN LATERAL (
      SELECT ${SELECTED} FROM deliveries WHERE ${sql.text()} AND event_type = wanted_type ${ORDER} LIMIT ${limit}
    ) AS page ${ORDER} LIMIT ${limit}`;
}

/**
 * No filter: every delivery has one of three statuses, and the index of these holds each one's rows in page order. The
 * planner merges the three as it goes and stops when the page is full, so that no write has to pay for an index of all.
 */
function mergedByStatus(sql: Conditions, limit: string): string {
  const ofStatus = STATUSES.map(
    (status) =>
      `(SELECT ${SELECTED} FROM deliveries WHERE ${sql.text()} AND status = '${status}' ${ORDER} LIMIT ${limit})`,
  );
  return `SELECT * FROM (${ofStatus.join(' UNION ALL ')}) AS page ${ORDER} LIMIT ${limit}`;
}

interface Conditions {
  readonly parameters: unknown[];
  parameter(value: unknown): string;
  where(condition: string, value: unknown): void;
  and(condition: string): void;
  afterPosition(position: DeliveryPosition): void;
  text(): string;
}

function createConditions(): Conditions {
  const parameters: unknown[] = [];
  const conditions: string[] = [];
  const parameter = (value: unknown): string => `$${String(parameters.push(value))}`;
  return {
    parameters,
    parameter,
    where: (condition, value) => {
      conditions.push(`${condition} (${parameter(value)})`);
    },
    and: (condition) => {
      conditions.push(condition);
    },
    afterPosition: ({ firstAttemptAt, eventId, series }) => {
      const key = [parameter(instant(firstAttemptAt)), parameter(eventId), parameter(series)].join(', ');
      conditions.push(`(first_attempt_at, event_id, series) > (${key})`);
    },
    text: () => conditions.join(' AND '),
  };
}

const instant = (epochMs: number): string =>
  new Date(Math.min(Math.max(Math.ceil(epochMs), 0), LAST_INSTANT_MS)).toISOString();

const isInt4 = (value: number): boolean => Number.isInteger(value) && Math.abs(value) <= INT4_MAX;
