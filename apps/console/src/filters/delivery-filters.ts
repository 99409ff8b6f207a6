import { EVENT_TYPES, type EventType, type Input, type StreamInput } from '@waypost/client';
import { datedText } from '../shared/time-text.js';
import { isUuid } from '../shared/uuid.js';

type EventsQuery = Input<'listEvents'>;

export const STATUSES = ['delivered', 'failed', 'pending'] as const;
export const ORDERS = { desc: 'Newest first', asc: 'Oldest first' } as const;
export const RANGES = {
  '15m': 'Last 15 minutes',
  '1h': 'Last hour',
  '6h': 'Last 6 hours',
  '1d': 'Last day',
  '3d': 'Last 3 days',
  all: 'Entire history',
} as const;

export type Range = keyof typeof RANGES;
type Status = (typeof STATUSES)[number];

const MINUTE_MS = 60_000;
const RANGE_MS: Readonly<Record<Range, number>> = {
  '15m': 15 * MINUTE_MS,
  '1h': 60 * MINUTE_MS,
  '6h': 360 * MINUTE_MS,
  '1d': 1_440 * MINUTE_MS,
  '3d': 3 * 1_440 * MINUTE_MS,
  // The API takes it as far back as the history goes.
  all: Number.POSITIVE_INFINITY,
};

/** What the address of the page says; an empty text is not a filter. */
export interface DeliveryFilters {
  /** The window ends now; without a meaning while `from` or `to` is set. */
  readonly range: Range;
  /** In ISO 8601, UTC. */
  readonly from: string;
  readonly to: string;
  readonly eventTypes: readonly EventType[];
  readonly status: Status | '';
  readonly deviceId: string;
  readonly subscriptionId: string;
  readonly eventId: string;
  readonly statusCode: string;
  /** `path:value` of a field of the payload. */
  readonly payload: string;
  readonly order: keyof typeof ORDERS;
}

const TEXTS = ['status', 'deviceId', 'subscriptionId', 'eventId', 'statusCode', 'payload', 'from', 'to'] as const;
const PAYLOAD = /^[^:]+:/;
const DIRECTION = /[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/;

/** A page can be bookmarked, opened in another tab and sent to a colleague. Values that no filter has are left out. */
export function filtersOf(search: string): DeliveryFilters {
  const parameters = new URLSearchParams(search);
  const text = (name: string): string => parameters.get(name) ?? '';
  const asked = new Set(parameters.getAll('eventType'));
  const uuid = (name: string): string => (isUuid(text(name)) ? text(name) : '');
  return {
    range: oneOf(Object.keys(RANGES) as Range[], text('range')) || '1d',
    from: timeOf(text('from')),
    to: timeOf(text('to')),
    eventTypes: EVENT_TYPES.filter((type) => asked.has(type)),
    status: oneOf(STATUSES, text('status')),
    deviceId: text('deviceId'),
    subscriptionId: uuid('subscriptionId'),
    eventId: uuid('eventId'),
    statusCode: /^[1-9]\d\d$/.test(text('statusCode')) ? text('statusCode') : '',
    payload: PAYLOAD.test(text('payload')) ? text('payload') : '',
    order: text('order') === 'asc' ? 'asc' : 'desc',
  };
}

/** The other way, without what is not set. */
export function searchOf(filters: DeliveryFilters): string {
  const parameters = new URLSearchParams();
  const hasWindow = filters.from !== '' || filters.to !== '';
  if (filters.range !== '1d' && !hasWindow) parameters.set('range', filters.range);
  for (const type of filters.eventTypes) parameters.append('eventType', type);
  for (const name of TEXTS) if (filters[name] !== '') parameters.set(name, filters[name]);
  if (filters.order === 'asc') parameters.set('order', 'asc');
  return parameters.toString();
}

export interface TimeWindow {
  readonly from: string;
  /** null: it has no end. */
  readonly to: string | null;
}

/** The window of the filters, for a list that was opened at `nowMs`. */
export function windowOf({ range, from, to }: DeliveryFilters, nowMs: number): TimeWindow {
  const oldestMs = Math.max(0, nowMs - RANGE_MS[to === '' ? range : 'all']);
  return { from: from === '' ? new Date(oldestMs).toISOString() : from, to: to === '' ? null : to };
}

/** The filters of what follows a list that ends before its end. What began in the same millisecond is in both. */
export function following(filters: DeliveryFilters, lastAt: string, nowMs: number): DeliveryFilters {
  const { from, to } = windowOf(filters, nowMs);
  // The end of a window is not a part of it.
  if (filters.order === 'desc') return { ...filters, from, to: new Date(Date.parse(lastAt) + 1).toISOString() };
  return { ...filters, from: lastAt, to: to ?? '' };
}

/** The request of the first page. */
export function queryOf(filters: DeliveryFilters, nowMs: number): EventsQuery {
  const { from, to } = windowOf(filters, nowMs);
  const { eventId, payload, order } = filters;
  return {
    order,
    startDate: from,
    ...(to !== null && { endDate: to }),
    ...streamQueryOf(filters),
    ...(eventId !== '' && { eventId }),
    ...(payload !== '' && { payload }),
  };
}

/** The request of the stream of attempts, which have no payload: without the window, and one event is not followed. */
export function streamQueryOf(filters: DeliveryFilters): StreamInput<'streamAttempts'> {
  const { eventTypes, status, deviceId, subscriptionId, statusCode } = filters;
  return {
    ...(eventTypes.length > 0 && { eventType: eventTypes }),
    ...(status !== '' && { status }),
    ...(deviceId !== '' && { deviceId }),
    ...(subscriptionId !== '' && { subscriptionId }),
    ...(statusCode !== '' && { statusCode: Number(statusCode) }),
  };
}

/** For people. */
export function filtersText(filters: DeliveryFilters): string {
  const { from, to, range } = filters;
  const window = from === '' && to === '' ? RANGES[range].toLowerCase() : 'a custom range';
  return [...partsOf(filters), window].join(', ');
}

/** The filters with the moments of their window, which its name does not say to those who read it later. */
export function datedFiltersText(filters: DeliveryFilters, { from, to }: TimeWindow): string {
  const start = Date.parse(from) === 0 ? 'from the beginning' : `from ${datedText(from)}`;
  return [...partsOf(filters), `${start} to ${to === null ? 'now' : datedText(to)}`].join(', ');
}

function partsOf(filters: DeliveryFilters): readonly string[] {
  const { eventTypes, status, deviceId, subscriptionId, eventId, statusCode, payload } = filters;
  const parts = [
    status,
    eventTypes.join(' or '),
    deviceId && `device ${isolated(deviceId)}`,
    statusCode && `code ${statusCode}`,
    subscriptionId && `subscription ${subscriptionId.slice(0, 8)}`,
    eventId && `event ${eventId.slice(0, 8)}`,
    isolated(payload),
  ];
  return parts.filter((part) => part !== '');
}

/** With the characters that end a change of direction with the text that makes it, if it does. */
function isolated(text: string): string {
  return DIRECTION.test(text) ? `\u2068${text}\u2069` : text;
}

function oneOf<Known extends string>(known: readonly Known[], text: string): Known | '' {
  return known.find((one) => one === text) ?? '';
}

function timeOf(text: string): string {
  const atMs = Date.parse(text);
  return Number.isNaN(atMs) ? '' : new Date(atMs).toISOString();
}
