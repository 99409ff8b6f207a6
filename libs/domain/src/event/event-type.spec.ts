import { describe, expect, it } from '@jest/globals';
import { DELIVERY_EVENT_TYPES, isEventType, isRouteEventType } from './event-type.js';

const ROUTE_TYPES = ['route_started', 'route_finished', 'stop_started', 'stop_finished'];
const OTHER_TYPES = ['position', 'position_sleep', 'ignition_on', 'ignition_off', 'geofence_in', 'geofence_out'];

describe('event types (R-7 to R-10)', () => {
  it('are those that a subscription may name, and the test event beside them', () => {
    expect([...OTHER_TYPES, ...ROUTE_TYPES, 'test']).toEqual(DELIVERY_EVENT_TYPES);
    expect([...OTHER_TYPES, ...ROUTE_TYPES].every(isEventType)).toBe(true);
    expect(['test', '', 'Position'].some(isEventType)).toBe(false);
  });

  it('of routes and stops are distinguished from the others', () => {
    expect(ROUTE_TYPES.every(isRouteEventType)).toBe(true);
    expect(OTHER_TYPES.some(isRouteEventType)).toBe(false);
  });
});
