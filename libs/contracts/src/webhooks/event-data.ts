import type { DELIVERY_EVENT_TYPES } from '@waypost/domain';
import { exactly, type JsonSchema, type Properties } from './json-schema.js';

export type WebhookType = (typeof DELIVERY_EVENT_TYPES)[number];

/** UTC with three decimals and `Z`. */
export const TIME: JsonSchema = {
  type: 'string',
  format: 'date-time',
  pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z$',
};

/** Never empty: an empty text from a device says nothing, so it is omitted. */
function text(description: string): JsonSchema {
  return { type: 'string', minLength: 1, description };
}
function amount(description: string): JsonSchema {
  return { type: 'number', minimum: 0, description };
}
function time(description: string): JsonSchema {
  return { ...TIME, description };
}

const LATITUDE: JsonSchema = { type: 'number', minimum: -90, maximum: 90, description: 'WGS-84 degrees.' };
const LONGITUDE: JsonSchema = { type: 'number', minimum: -180, maximum: 180, description: 'WGS-84 degrees.' };

function place(description: string): JsonSchema {
  return exactly({ latitude: LATITUDE, longitude: LONGITUDE }, ['latitude', 'longitude'], description);
}

/** Fields of every type; a known field is present and never null. */
const COMMON: Properties = {
  deviceId: text('The device that reported it.'),
  fleetId: text('Its fleet.'),
  vehicleId: text('Vehicle that the device is installed in.'),
  licensePlate: text("The vehicle's."),
  driverId: text('Current driver.'),
  latitude: LATITUDE,
  longitude: LONGITUDE,
  locationTime: time('When the device was there; only when that was before eventTime.'),
  altitudeInMeters: { type: 'number', description: 'Above sea level.' },
  speedInKmh: { type: 'number', description: 'Over ground.' },
  heading: { type: 'number', minimum: 0, exclusiveMaximum: 360, description: 'Degrees from true north, clockwise.' },
  ignition: { type: 'boolean', description: 'After the event.' },
  odometerInMeters: { type: 'number', description: 'Odometer reading of the device.' },
  batteryVoltage: { type: 'number', description: "Of the vehicle's battery." },
  connectionType: text('How the device was connected.'),
  rpm: { type: 'number', description: 'Only of devices with a bus.' },
  fuelLevel: { type: 'number', description: 'Percent. Only of devices with a bus.' },
};

const ROUTE: Properties = {
  routeId: { type: 'string', format: 'uuid', description: 'The same in route_started and route_finished.' },
  startTime: time('Of the first ping in motion.'),
  startLocation: place('Where that was.'),
};

const STOP: Properties = {
  activityId: { type: 'string', format: 'uuid', description: 'The same in stop_started and stop_finished.' },
  startTime: time('Of the end of the route before.'),
};

const GEOFENCE: Properties = {
  geofenceId: text('The geofence.'),
  geofenceName: { type: 'string', description: 'Its name at that time.' },
};

interface OwnFields {
  readonly always: Properties;
  readonly whenKnown?: Properties;
}

/** The fields that a type adds to the common ones. */
const OWN: Readonly<Record<WebhookType, OwnFields>> = {
  position: { always: {} },
  position_sleep: { always: {} },
  ignition_on: { always: {} },
  ignition_off: { always: {} },
  geofence_in: { always: GEOFENCE },
  geofence_out: {
    always: GEOFENCE,
    whenKnown: {
      enteredAt: time('When the device came in; unknown when it was inside at first sight.'),
      durationInSeconds: amount('From enteredAt to eventTime.'),
    },
  },
  route_started: { always: ROUTE },
  route_finished: {
    always: {
      ...ROUTE,
      endTime: time('When the ignition went off, of the first ping at rest, or of the last fix before a gap.'),
      endLocation: place('The last fix until then, or where the vehicle stood.'),
      distanceInMeters: amount('Along the fixes of the route, standing left out; whole meters.'),
      durationInSeconds: amount('From startTime to endTime.'),
      averageSpeedInKmh: amount('Distance by duration, one decimal.'),
      endReason: { type: 'string', enum: ['ignition_off', 'stationary', 'no_data'], description: 'Why it ended.' },
    },
    whenKnown: {
      maxSpeedInKmh: amount('The highest that was reported; unknown when no speed was.'),
      idleTimeInSeconds: amount('Standing within the route; unknown when no speed was reported.'),
    },
  },
  stop_started: { always: STOP },
  stop_finished: {
    always: { ...STOP, endTime: time('Of the first ping in motion.'), durationInSeconds: amount('Of the stop.') },
  },
  test: { always: {} },
};

/** The `eventData` of a type. */
export function eventDataSchema(type: WebhookType): JsonSchema {
  const { always, whenKnown = {} } = OWN[type];
  return exactly({ ...COMMON, ...always, ...whenKnown }, ['deviceId', 'fleetId', ...Object.keys(always)]);
}
