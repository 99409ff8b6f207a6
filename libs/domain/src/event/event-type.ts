/** Every event type there is; a subscription names exactly one. */
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

/** Of routes and stops: made for a fleet only while its settings ask for them. */
const ROUTE_EVENT_TYPES: ReadonlySet<string> = new Set<EventType>([
  'route_started',
  'route_finished',
  'stop_started',
  'stop_finished',
]);

export const isRouteEventType = (eventType: string): boolean => ROUTE_EVENT_TYPES.has(eventType);

/** What a subscription is sent on request, to try its endpoint. Nothing subscribes to it, and no device makes it. */
export const TEST_EVENT_TYPE = 'test';

/** Every type that a delivery can have. */
export const DELIVERY_EVENT_TYPES = [...EVENT_TYPES, TEST_EVENT_TYPE] as const;

const known: ReadonlySet<string> = new Set(EVENT_TYPES);

export function isEventType(text: string): text is EventType {
  return known.has(text);
}
