import { draftEvent, type FleetEvent, type PayloadFormat, serializeBody } from '@waypost/domain';
import type { WebhookType } from './event-data.js';

const ID = '0b5e2208-8aa8-5b11-8eea-90e849c2f8b5';
const AT = Date.UTC(2026, 2, 1, 12, 30);
const STARTED_AT = Date.UTC(2026, 2, 1, 12);
const HOME = { latitude: 52.5, longitude: 13.4 };
const PLACE = { latitude: 52.52, longitude: 13.405 };
const GEOFENCE: Partial<FleetEvent> = { resourceId: 'g-1', geofenceId: 'g-1', geofenceName: 'Depot' };
const ROUTE_ID = '401ad67b-9992-58ff-833c-3bdf2f40d1ad';
const ROUTE: Partial<FleetEvent> = {
  resourceId: ROUTE_ID,
  routeId: ROUTE_ID,
  startTime: STARTED_AT,
  startLocation: HOME,
};
const STOP_ID = '889aea6d-9f84-5d2b-856a-a6055fedec0f';
const STOP: Partial<FleetEvent> = { resourceId: STOP_ID, activityId: STOP_ID, startTime: STARTED_AT };

/** What the example of a type adds to its time and place, or replaces. */
const OWN: Readonly<Record<WebhookType, Partial<FleetEvent>>> = {
  position: { speedInKmh: 38, heading: 90, ignition: true, odometerInMeters: 123_456_789 },
  position_sleep: { ignition: false, batteryVoltage: 12.4 },
  ignition_on: { ignition: true, vehicleId: 'van-7', licensePlate: 'B-WP 100', driverId: 'driver-9' },
  ignition_off: { locationTime: AT - 20_000, ignition: false, speedInKmh: 0 },
  geofence_in: GEOFENCE,
  geofence_out: { ...GEOFENCE, enteredAt: STARTED_AT, durationInSeconds: 1_800 },
  route_started: { ...HOME, ...ROUTE, eventTime: STARTED_AT },
  route_finished: {
    ...ROUTE,
    endTime: AT,
    endLocation: PLACE,
    distanceInMeters: 12_034,
    durationInSeconds: 1_800,
    maxSpeedInKmh: 71,
    averageSpeedInKmh: 24.1,
    idleTimeInSeconds: 140,
    endReason: 'ignition_off',
  },
  stop_started: { ...STOP, eventTime: STARTED_AT },
  stop_finished: { ...STOP, endTime: AT, durationInSeconds: 1_800 },
  test: {},
};

/** A body as the product writes it. */
export function webhookExample(type: WebhookType, format: PayloadFormat): unknown {
  const event = { ...draftEvent('tour', 'van-1', type, AT), ...PLACE, ...OWN[type] };
  return JSON.parse(serializeBody(format, event, ID)) as unknown;
}
