import type { DeliveryPosition, DeliveryQuery, DeliveryStatus } from '@waypost/domain';
import { type PreparedQuery, storableText } from '@waypost/database';
import { DELIVERY_KEYS, finerColumn, hashedKey, type DeliveryKeyName, type Facet } from './delivery-keys.js';

export interface SqlQuery {
  readonly text: string;
  readonly parameters: unknown[];
}

const SELECTED = `event_id, first_attempt_at, last_attempt_at, event_time, created_at, delivered_at, next_attempt_at,
  series, status_code, fleet_id, device_id, subscription_id, event_type, format, status, url, body, attempts`;

const ORDER = 'ORDER BY first_attempt_at, event_id, series';

const STATUSES = ['pending', 'delivered', 'failed'] as const satisfies DeliveryStatus[];

/**
 * The statements whose lists of several types are merged as they are read have places for so many types; what is not given is
 * NULL, which no row has. A plan grows with each list of each day, so more types are read a page of each.
 */
const PLACES_FOR_TYPES = [2, 4] as const;

/** Years 1970 to 9999: what both ISO 8601 and PostgreSQL write with four digits. */
const LAST_INSTANT_MS = Date.UTC(10_000, 0) - 1;

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const INT4_MAX = 2_147_483_647;

/**
 * The query of one page; null when nothing can be found: a filter has a value that no row can have, or
 * two contradict each other. Values are parameters only; the text depends on which filters are given, not on what they
 * say, and leaves the planner one index to choose.
 */
export function findDeliveriesSql(query: DeliveryQuery): PreparedQuery | null {
  const filters = readFilters(query);
  const statuses = statusesOf(query);
  if (filters === null || statuses.length === 0) return null;
  const key = keyOf(query, filters);
  const isMerged = key !== null && DELIVERY_KEYS[key].facets.some((facet) => facet === 'status');
  const { status, ...others } = filters;
  const page = isMerged ? { filters: others, merged: statuses } : { filters, merged: [] };
  const shape = { key, ...page, types: typesOf(key, filters) };
  return { name: nameOf(shape), ...textOf({ query, ...shape }) };
}

function typesOf(key: DeliveryKeyName | null, { event_types: types }: Filters): Page['types'] {
  // A key that has no place for several types looks at them within the index.
  if (types === undefined || key === null || !namesType(key)) return 'as one';
  // A subscription names one type: of the pages only one has rows, and lists of the others are opened for nothing.
  if (key === 'subscriptionAndType') return 'a page of each';
  return PLACES_FOR_TYPES.find((places) => places >= types.length) ?? 'a page of each';
}

/** PostgreSQL takes names of up to 63 bytes. */
const nameOf = ({ key, merged, filters, types }: Omit<Page, 'query'>): string =>
  ['page', key ?? 'event', ...merged.map((status) => status.charAt(0)), ...namesOf(filters), countOf(types)]
    .join(' ')
    .trimEnd();

const namesOf = (filters: Filters): string[] =>
  Object.keys(filters).map((column) => SHORT_NAMES[column as keyof Filters]);

const countOf = (types: Page['types']): string => (typeof types === 'number' ? String(types) : '');

/** Values by column, in the order in which they become parameters; several types have a place of their own. */
type Filters = Readonly<Partial<Record<Facet | 'event_id', unknown>>> & { readonly event_types?: readonly string[] };

const SHORT_NAMES: Readonly<Record<keyof Filters, string>> = {
  device_id: 'dev',
  subscription_id: 'sub',
  event_id: 'id',
  status_code: 'code',
  status: 'status',
  event_type: 'type',
  event_types: 'types',
};

/** null: the database would refuse a value. */
function readFilters(query: DeliveryQuery): Filters | null {
  const { deviceId, subscriptionId, eventId, statusCode, status } = query;
  if (eventId !== undefined && !UUID.test(eventId)) return null;
  if (statusCode !== undefined && !isInt4(statusCode)) return null;
  const types = [...new Set((query.eventTypes ?? []).map(storableText))];
  return {
    ...(deviceId === undefined ? {} : { device_id: storableText(deviceId) }),
    ...(subscriptionId === undefined ? {} : { subscription_id: storableText(subscriptionId) }),
    ...(eventId === undefined ? {} : { event_id: eventId }),
    ...(statusCode === undefined ? {} : { status_code: statusCode }),
    ...(status === undefined ? {} : { status }),
    ...(types.length === 1 ? { event_type: types[0] } : {}),
    ...(types.length > 1 ? { event_types: types } : {}),
  };
}

/** Delivered means 2xx. */
function statusesOf({ status, statusCode }: DeliveryQuery): readonly DeliveryStatus[] {
  const isAccepted = statusCode !== undefined && statusCode >= 200 && statusCode <= 299;
  return STATUSES.filter(
    (one) =>
      (status === undefined || status === one) && (statusCode === undefined || (one === 'delivered') === isAccepted),
  );
}

/** The key that names the fewest deliveries; null: the event's own, which is the primary key. */
function keyOf(
  { deviceId, subscriptionId, eventId, statusCode, status }: DeliveryQuery,
  filters: Filters,
): DeliveryKeyName | null {
  const ofType = 'event_type' in filters || 'event_types' in filters;
  const ofCode = statusCode !== undefined;
  if (eventId !== undefined) return null;
  if (deviceId !== undefined) return 'device';
  if (subscriptionId !== undefined) {
    if (ofCode) return 'subscriptionAndCode';
    return ofType && status === undefined ? 'subscriptionAndType' : 'subscription';
  }
  if (ofType) return ofCode ? 'typeAndCode' : 'type';
  return ofCode ? 'code' : 'status';
}

interface Page {
  readonly query: DeliveryQuery;
  readonly filters: Filters;
  readonly key: DeliveryKeyName | null;
  /** The statuses whose lists make up the page: each list is in its order. Empty: the key does not tell statuses apart. */
  readonly merged: readonly DeliveryStatus[];
  /** What becomes of several types; a number: each has lists of its own, which are merged too, in so many places. */
  readonly types: (typeof PLACES_FOR_TYPES)[number] | 'a page of each' | 'as one';
}

function textOf({ query, filters, key, merged, types }: Page): SqlQuery {
  const parameters: unknown[] = [];
  const parameter = (value: unknown): string => `$${String(parameters.push(value))}`;
  const window = windowOf(query, parameter);
  const values = { fleet_id: parameter(storableText(query.fleetId)), ...parametersOf(filters, parameter) };
  const limit = parameter(query.limit);
  const wanted = `${values.event_types ?? ''}::text[]`;

  const listOf = (all: Values): string =>
    `SELECT ${SELECTED} FROM deliveries WHERE ${[...keyConditions(key, all), ...conditions(all), ...window].join(' AND ')}`;
  const listsOf = (all: Values): string[] =>
    merged.length === 0 ? [listOf(all)] : merged.map((status) => listOf({ ...all, status: `'${status}'` }));
  const pageOf = (lists: readonly string[]): string => `${merge(lists)} ${ORDER} LIMIT ${limit}`;

  if (types === 'as one') return { text: pageOf(listsOf(values)), parameters };
  if (typeof types === 'number') {
    const each = Array.from({ length: types }, (_, index) => `(${wanted})[${String(index + 1)}]`);
    return { text: pageOf(each.flatMap((type) => listsOf({ ...values, event_type: type }))), parameters };
  }
  const ofType = pageOf(listsOf({ ...values, event_type: 'wanted.event_type' }));
  const text = `SELECT page.* FROM unnest(${wanted}) AS wanted (event_type)
    CROSS JOIN LATERAL (${ofType}) AS page ${ORDER} LIMIT ${limit}`;
  return { text, parameters };
}

type Parameter = (value: unknown) => string;
/** The SQL of each value that is asked for. */
type Values = Readonly<Partial<Record<'fleet_id' | Facet | 'event_id' | 'event_types', string>>>;

const parametersOf = (filters: Filters, parameter: Parameter): Values =>
  Object.fromEntries(Object.entries(filters).map(([column, value]) => [column, parameter(value)]));

const namesType = (key: DeliveryKeyName): boolean => {
  const { facets, finer }: { facets: readonly Facet[]; finer: readonly Facet[] } = DELIVERY_KEYS[key];
  return facets.includes('event_type') && !finer.includes('event_type');
};

/** The planner merges lists that are in order as it goes, and stops when the page is full. */
function merge(streams: readonly string[]): string {
  const [only, ...others] = streams;
  if (only !== undefined && others.length === 0) return only;
  const ordered = streams.map((stream) => `(${stream} ORDER BY first_attempt_at)`);
  return `SELECT * FROM (${ordered.join(' UNION ALL ')}) AS streams`;
}

/** What leads into the index of the key. A hash may be another's too: `conditions` looks at the row itself. */
function keyConditions(name: DeliveryKeyName | null, values: Values): string[] {
  if (name === null) return [];
  const { facets, finer }: { facets: readonly Facet[]; finer: readonly Facet[] } = DELIVERY_KEYS[name];
  const hashed = `${hashedKey(facets, (column) => column)} = ${hashedKey(facets, (column) => values[column] ?? '')}`;
  const asked = finer.flatMap((facet) => {
    const value = values[facet];
    if (facet === 'event_type' && values.event_types !== undefined) return [oneOfTypes(values.event_types)];
    return value === undefined || facet === 'status_code'
      ? []
      : [`${finerColumn(facet, facet)} = ${finerColumn(facet, value)}`];
  });
  return [hashed, ...asked];
}

const oneOfTypes = (types: string): string =>
  `hashtext(event_type) = ANY (ARRAY(SELECT hashtext(wanted) FROM unnest(${types}::text[]) AS wanted))`;

function conditions({ event_types, ...values }: Values): string[] {
  const equal = Object.entries(values).map(([column, value]) => `${column} = ${value}`);
  return event_types === undefined || values.event_type !== undefined
    ? equal
    : [...equal, `event_type = ANY (${event_types})`];
}

/** The same for every page of a walk: the first one is behind the first position that there can be. */
function windowOf({ startAt, endAt, after }: DeliveryQuery, parameter: Parameter): string[] {
  const position = after ?? { firstAttemptAt: startAt, ...BEFORE_ALL };
  const key = [instant(position.firstAttemptAt), position.eventId, position.series].map(parameter).join(', ');
  return [
    // Also says the day to go on from: the planner cannot tell which partitions a row comparison rules out.
    `first_attempt_at >= ${parameter(instant(Math.max(startAt, position.firstAttemptAt)))}`,
    `first_attempt_at < ${parameter(instant(endAt))}`,
    `(first_attempt_at, event_id, series) > (${key})`,
  ];
}

const BEFORE_ALL: Omit<DeliveryPosition, 'firstAttemptAt'> = {
  eventId: '00000000-0000-0000-0000-000000000000',
  series: -1,
};

export const instant = (epochMs: number): string =>
  new Date(Math.min(Math.max(Math.ceil(epochMs), 0), LAST_INSTANT_MS)).toISOString();

const isInt4 = (value: number): boolean => Number.isInteger(value) && Math.abs(value) <= INT4_MAX;
