import type { DeliveryFilters } from './delivery-filters.js';

/** One filter that is in effect, and what is left without it. */
export interface ActiveFilter {
  readonly label: string;
  readonly value: string;
  readonly without: DeliveryFilters;
}

export interface FilterNames {
  /** Of the window, for people. */
  readonly window: string;
  readonly subscription: (id: string) => string;
}

/** The texts that are filters by themselves, with what their fields are called. */
const LABELS = {
  status: 'Status',
  deviceId: 'Device',
  subscriptionId: 'Subscription',
  statusCode: 'Status code',
  eventId: 'Event id',
  payload: 'Payload field',
} as const;
type Name = keyof typeof LABELS;

/** A live tail begins now, and can follow neither one event nor payloads. */
const OF_HISTORY: readonly Name[] = ['eventId', 'payload'];

/** The window is one of them unless it is the usual one; the order is none. */
export function activeFilters(filters: DeliveryFilters, isLive: boolean, names: FilterNames): readonly ActiveFilter[] {
  const { range, from, to, eventTypes } = filters;
  const isUsual = range === '1d' && from === '' && to === '';
  const window: ActiveFilter = {
    label: 'First attempt',
    value: names.window,
    without: { ...filters, range: '1d', from: '', to: '' },
  };
  const types = eventTypes.map((type) => ({
    label: 'Event type',
    value: type,
    without: { ...filters, eventTypes: eventTypes.filter((one) => one !== type) },
  }));
  const texts = (Object.keys(LABELS) as Name[])
    .filter((name) => filters[name] !== '' && !(isLive && OF_HISTORY.includes(name)))
    .map((name) => ({
      label: LABELS[name],
      value: name === 'subscriptionId' ? names.subscription(filters[name]) : filters[name],
      without: { ...filters, [name]: '' },
    }));
  return [...(isUsual || isLive ? [] : [window]), ...types, ...texts];
}
