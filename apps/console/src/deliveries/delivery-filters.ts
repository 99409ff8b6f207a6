import type { Input } from '@waypost/client';

type EventsQuery = Input<'listEvents'>;

export const EVENT_TYPES = [
  'position',
  'position_sleep',
  'ignition_on',
  'ignition_off',
  'geofence_in',
  'geofence_out',
  'route_started',
  'route_finished',
  'stop_started',
  'stop_finished',
  'test',
] as const;
export const STATUSES = ['delivered', 'failed', 'pending'] as const;
export const RANGES = { '15m': 'Last 15 minutes', '1h': 'Last hour', '1d': 'Last day', '15d': 'Last 15 days' } as const;

export type Range = keyof typeof RANGES;

const RANGE_MS: Readonly<Record<Range, number>> = {
  '15m': 900_000,
  '1h': 3_600_000,
  '1d': 86_400_000,
  '15d': 1_296_000_000,
};

/** What the address of the page says; an empty text is no filter. */
export interface DeliveryFilters {
  readonly range: Range;
  readonly eventType: string;
  readonly status: string;
  readonly deviceId: string;
  readonly subscriptionId: string;
  readonly eventId: string;
  readonly statusCode: string;
}

const TEXTS = ['eventType', 'status', 'deviceId', 'subscriptionId', 'eventId', 'statusCode'] as const;

/** A page can be bookmarked, opened in another tab and sent to a colleague. Values that no filter has are left out. */
export function filtersOf(search: string): DeliveryFilters {
  const parameters = new URLSearchParams(search);
  const text = (name: string): string => parameters.get(name) ?? '';
  const range = text('range');
  return {
    range: Object.hasOwn(RANGES, range) ? (range as Range) : '1d',
    eventType: oneOf(EVENT_TYPES, text('eventType')),
    status: oneOf(STATUSES, text('status')),
    deviceId: text('deviceId'),
    subscriptionId: text('subscriptionId'),
    eventId: text('eventId'),
    statusCode: /^[1-5]\d\d$/.test(text('statusCode')) ? text('statusCode') : '',
  };
}

/** The other way, without what is not set. */
export function searchOf(filters: DeliveryFilters): string {
  const parameters = new URLSearchParams();
  if (filters.range !== '1d') parameters.set('range', filters.range);
  for (const name of TEXTS) if (filters[name] !== '') parameters.set(name, filters[name]);
  return parameters.toString();
}

/** The request of the newest page. */
export function queryOf(filters: DeliveryFilters, nowMs: number): EventsQuery {
  const { range, eventType, status, deviceId, subscriptionId, eventId, statusCode } = filters;
  return {
    order: 'desc',
    startDate: new Date(nowMs - RANGE_MS[range]).toISOString(),
    ...(eventType !== '' && { eventType: [eventType as (typeof EVENT_TYPES)[number]] }),
    ...(status !== '' && { status: status as (typeof STATUSES)[number] }),
    ...(deviceId !== '' && { deviceId }),
    ...(subscriptionId !== '' && { subscriptionId }),
    ...(eventId !== '' && { eventId }),
    ...(statusCode !== '' && { statusCode: Number(statusCode) }),
  };
}

function oneOf(known: readonly string[], text: string): string {
  return known.includes(text) ? text : '';
}
