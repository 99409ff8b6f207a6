/**
 * SQL by hand: a keyset page reads one ordered range of one index, and its text must leave the planner only that
 * index, which TypeORM cannot ensure.
 */
import { type PreparedQuery, storableText } from '@waypost/database';
import {
  DELIVERY_STATUSES,
  type DeliveryPosition,
  type DeliveryQuery,
  type DeliveryStatus,
  isUuid,
} from '@waypost/domain';
import { instant } from '../sql/instant.js';
import { SqlParameters } from '../sql/sql-parameters.js';
import { conditions, IS_NOT_WAITING, keyConditions, type Values } from './delivery-conditions.js';
import { DELIVERY_KEYS, type DeliveryKeyName, type Facet } from './delivery-keys.js';
import { boundedText, SELECTED } from './record-sql.js';

const ORDERS = {
  asc: { by: 'ORDER BY first_attempt_at, event_id, series', merge: 'ORDER BY first_attempt_at' },
  desc: {
    by: 'ORDER BY first_attempt_at DESC, event_id DESC, series DESC',
    merge: 'ORDER BY first_attempt_at DESC',
  },
} as const;

/**
 * Statements that merge the lists of several types have this many slots; unused slots are NULL, which no row has. A
 * plan grows with each list of each day, so more types are read as one page per type.
 */
const TYPE_SLOTS = [2, 4] as const;

const INT4_MAX = 2_147_483_647;

/**
 * One page; null if nothing can match. The text depends on which filters are given, never on their
 * values, and leaves the planner one index to choose.
 */
export function findDeliveriesSql(query: DeliveryQuery, maxBytes: number): PreparedQuery | null {
  const filters = readFilters(query);
  const statuses = statusesOf(query);
  if (filters === null || statuses.length === 0 || query.endAt <= query.startAt) return null;
  if (filters.subscription_ids?.length === 0) return null;
  const key = keyOf(query, filters);
  const isMerged = key !== null && DELIVERY_KEYS[key].facets.some((facet) => facet === 'status');
  const { status, ...others } = filters;
  const page = isMerged ? { filters: others, merged: statuses } : { filters, merged: [] };
  const shape = { key, ...page, types: typesOf(key, filters) };
  return { name: nameOf(shape, query), ...textOf({ query, maxBytes, ...shape }) };
}

function typesOf(key: DeliveryKeyName | null, { event_types: types }: Filters): Page['types'] {
  // A key without the type checks several types within the index.
  if (types === undefined || key === null || !includesType(key)) return 'filter';
  // A subscription has one type: only one page has rows, and merging would open the other lists for nothing.
  if (key === 'subscriptionAndType') return 'page per type';
  return TYPE_SLOTS.find((slots) => slots >= types.length) ?? 'page per type';
}

/** PostgreSQL allows names of up to 63 bytes. */
function nameOf(
  { key, merged, filters, types }: Omit<Page, 'query' | 'maxBytes'>,
  { order, withoutWaiting }: DeliveryQuery,
): string {
  const statuses = merged.map((status) => status.charAt(0));
  const columns = Object.keys(filters).map((column) => SHORT_NAMES[column as keyof Filters]);
  const slots = typeof types === 'number' ? [String(types)] : [];
  const first = order === 'desc' ? 'desc' : 'page';
  const others = withoutWaiting === true ? ['others'] : [];
  return [first, key ?? 'event', ...statuses, ...columns, ...slots, ...others].join(' ');
}

/** Values by column, in parameter order; several types or subscriptions are one array. */
type Filters = Readonly<Partial<Record<Facet | 'event_id', unknown>>> & {
  readonly event_types?: readonly string[];
  readonly subscription_ids?: readonly string[];
};

const SHORT_NAMES: Readonly<Record<keyof Filters, string>> = {
  device_id: 'dev',
  subscription_id: 'sub',
  event_id: 'id',
  status_code: 'code',
  status: 'status',
  event_type: 'type',
  event_types: 'types',
  subscription_ids: 'subs',
};

function readFilters(query: DeliveryQuery): Filters | null {
  const { deviceId, eventId, statusCode, status } = query;
  if (eventId !== undefined && !isUuid(eventId)) return null;
  if (statusCode !== undefined && !isInt4(statusCode)) return null;
  const types = [...new Set((query.eventTypes ?? []).map(storableText))];
  return {
    ...(deviceId === undefined ? {} : { device_id: storableText(deviceId) }),
    ...subscriptionsOf(query),
    ...(eventId === undefined ? {} : { event_id: eventId }),
    ...(statusCode === undefined ? {} : { status_code: statusCode }),
    ...(status === undefined ? {} : { status }),
    ...(types.length === 1 ? { event_type: types[0] } : {}),
    ...(types.length > 1 ? { event_types: types } : {}),
  };
}

/** With both filters, the one subscription if the list has it. */
function subscriptionsOf({
  subscriptionId,
  subscriptionIds,
}: DeliveryQuery): Pick<Filters, 'subscription_id' | 'subscription_ids'> {
  const all = [...new Set((subscriptionIds ?? []).map(storableText))];
  const one = subscriptionId === undefined ? undefined : storableText(subscriptionId);
  if (subscriptionIds === undefined) return one === undefined ? {} : { subscription_id: one };
  const wanted = one === undefined ? all : all.filter((id) => id === one);
  return wanted.length === 1 ? { subscription_id: wanted[0] } : { subscription_ids: wanted };
}

/** Delivered means 2xx. */
function statusesOf({ status, statusCode }: DeliveryQuery): readonly DeliveryStatus[] {
  const isAccepted = statusCode !== undefined && statusCode >= 200 && statusCode <= 299;
  return DELIVERY_STATUSES.filter(
    (one) =>
      (status === undefined || status === one) && (statusCode === undefined || (one === 'delivered') === isAccepted),
  );
}

/** The key that selects the fewest deliveries; null: the primary key, by event. */
function keyOf({ deviceId, eventId, statusCode, status }: DeliveryQuery, filters: Filters): DeliveryKeyName | null {
  const ofSubscription = 'subscription_id' in filters || 'subscription_ids' in filters;
  const ofType = 'event_type' in filters || 'event_types' in filters;
  const ofCode = statusCode !== undefined;
  if (eventId !== undefined) return null;
  if (deviceId !== undefined) return 'device';
  if (ofSubscription) {
    if (ofCode) return 'subscriptionAndCode';
    return ofType && status === undefined ? 'subscriptionAndType' : 'subscription';
  }
  if (ofType) return ofCode ? 'typeAndCode' : 'type';
  return ofCode ? 'code' : 'status';
}

interface Page {
  readonly query: DeliveryQuery;
  readonly maxBytes: number;
  readonly filters: Filters;
  readonly key: DeliveryKeyName | null;
  /** The statuses whose lists are merged into the page; each list is ordered. Empty: the key does not include the status. */
  readonly merged: readonly DeliveryStatus[];
  /** How several types are read. A number: as that many lists, which are merged too. */
  readonly types: (typeof TYPE_SLOTS)[number] | 'page per type' | 'filter';
}

function textOf(page: Page): Omit<PreparedQuery, 'name'> {
  const { query, maxBytes, filters } = page;
  const parameters = new SqlParameters();
  const window = [...windowOf(query, parameters), ...(query.withoutWaiting === true ? [IS_NOT_WAITING] : [])];
  const { subscription_ids: subscriptions, ...values } = {
    fleet_id: parameters.add(storableText(query.fleetId)),
    ...parametersOf(filters, parameters),
  };
  const most = parameters.add(query.limit, 'integer');
  // Reads one row more than the page, to see whether there are more.
  const limit = `${most} + 1`;
  const orderBy = ORDERS[query.order ?? 'asc'].by;
  const ofOne = { ...values, subscription_id: 'own.subscription_id' };
  // Reads a page of each subscription: a filter on the list of the whole fleet would read all the others.
  const rows =
    subscriptions === undefined
      ? pageText(page, values, window, limit)
      : `SELECT found.* FROM unnest(${subscriptions}::text[]) AS own (subscription_id)
    CROSS JOIN LATERAL (${pageText(page, ofOne, window, limit)}) AS found ${orderBy} LIMIT ${limit}`;
  const bytes = parameters.add(maxBytes, 'bigint');
  return { text: boundedText(rows, orderBy, { most, maxBytes: bytes }), parameters: parameters.values };
}

function pageText(
  { query, key, merged, types }: Page,
  values: Values,
  window: readonly string[],
  limit: string,
): string {
  const typeArray = `${values.event_types ?? ''}::text[]`;
  const order = ORDERS[query.order ?? 'asc'];

  const listOf = (all: Values): string =>
    `SELECT ${SELECTED} FROM fleet_deliveries AS deliveries WHERE ${[...keyConditions(key, all), ...conditions(all), ...window].join(' AND ')}`;
  const listsOf = (all: Values): string[] =>
    merged.length === 0 ? [listOf(all)] : merged.map((status) => listOf({ ...all, status: `'${status}'` }));
  const pageOf = (lists: readonly string[]): string => `${merge(lists, order.merge)} ${order.by} LIMIT ${limit}`;
  if (types === 'filter') return pageOf(listsOf(values));
  if (typeof types === 'number') {
    const each = Array.from({ length: types }, (_, index) => `(${typeArray})[${String(index + 1)}]`);
    return pageOf(each.flatMap((type) => listsOf({ ...values, event_type: type })));
  }
  const ofType = pageOf(listsOf({ ...values, event_type: 'wanted.event_type' }));
  return `SELECT page.* FROM unnest(${typeArray}) AS wanted (event_type)
    CROSS JOIN LATERAL (${ofType}) AS page ${order.by} LIMIT ${limit}`;
}

function parametersOf(filters: Filters, parameters: SqlParameters): Values & { readonly subscription_ids?: string } {
  return Object.fromEntries(Object.entries(filters).map(([column, value]) => [column, parameters.add(value)]));
}

function includesType(key: DeliveryKeyName): boolean {
  const { facets, finer }: { facets: readonly Facet[]; finer: readonly Facet[] } = DELIVERY_KEYS[key];
  return facets.includes('event_type') && !finer.includes('event_type');
}

/** The planner merges ordered lists while it reads them, and stops when the page is full. */
function merge(streams: readonly string[], order: string): string {
  const [only, ...others] = streams;
  if (only !== undefined && others.length === 0) return only;
  const ordered = streams.map((stream) => `(${stream} ${order})`);
  return `SELECT * FROM (${ordered.join(' UNION ALL ')}) AS streams`;
}

/**
 * The text is the same for every page of a walk: the first page starts outside all positions. The planner cannot
 * exclude partitions by a row comparison, so the first day of the page is named as well.
 */
function windowOf({ startAt, endAt, order, after }: DeliveryQuery, parameters: SqlParameters): string[] {
  const isDescending = order === 'desc';
  const position =
    after ?? (isDescending ? { firstAttemptAt: endAt, ...AFTER_ALL } : { firstAttemptAt: startAt, ...BEFORE_ALL });
  const key = [instant(position.firstAttemptAt), position.eventId, position.series]
    .map((value) => parameters.add(value))
    .join(', ');
  const from = isDescending ? startAt : Math.max(startAt, position.firstAttemptAt);
  return [
    `first_attempt_at >= ${parameters.add(instant(from))}`,
    `first_attempt_at < ${parameters.add(instant(endAt))}`,
    ...(isDescending ? [`first_attempt_at <= ${parameters.add(instant(position.firstAttemptAt))}`] : []),
    `(first_attempt_at, event_id, series) ${isDescending ? '<' : '>'} (${key})`,
  ];
}

const BEFORE_ALL: Omit<DeliveryPosition, 'firstAttemptAt'> = {
  eventId: '00000000-0000-0000-0000-000000000000',
  series: -1,
};
const AFTER_ALL: Omit<DeliveryPosition, 'firstAttemptAt'> = {
  eventId: 'ffffffff-ffff-ffff-ffff-ffffffffffff',
  series: INT4_MAX,
};

function isInt4(value: number): boolean {
  return Number.isInteger(value) && Math.abs(value) <= INT4_MAX;
}
