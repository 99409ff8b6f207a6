/** a subscription names exactly one. */
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
] as const;

export type EventType = (typeof EVENT_TYPES)[number];

/** only fleets whose settings ask for them have these. */
const ROUTE_EVENT_TYPES: ReadonlySet<string> = new Set<EventType>([
  'route_started',
  'route_finished',
  'stop_started',
  'stop_finished',
]);

export function isRouteEventType(eventType: string): boolean {
  return ROUTE_EVENT_TYPES.has(eventType);
}

/** Sent on request only: no device causes it, and no subscription can name it. */
export const TEST_EVENT_TYPE = 'test';

export const DELIVERY_EVENT_TYPES = [...EVENT_TYPES, TEST_EVENT_TYPE] as const;

const known: ReadonlySet<string> = new Set(EVENT_TYPES);

export function isEventType(text: string): text is EventType {
  return known.has(text);
}
