// Generated from schemas/fleet.events-value.avsc by "npm run codegen". Change the schema, not this file.

/** One event of one device, before fan-out: it belongs to no subscription and has no eventId yet. */
export interface FleetEvent {
  readonly fleetId: string;
  readonly deviceId: string;
  readonly eventType: string;
  /** Epoch milliseconds. */
  readonly eventTime: number;
  /** routeId, activityId or geofenceId; enters the eventId. */
  readonly resourceId: string | null;
  readonly vehicleId: string | null;
  readonly licensePlate: string | null;
  readonly driverId: string | null;
  readonly latitude: number | null;
  readonly longitude: number | null;
  /** Only when the fix is older than the event (epoch milliseconds). */
  readonly locationTime: number | null;
  readonly altitudeInMeters: number | null;
  readonly speedInKmh: number | null;
  /** Degrees, 0 <= heading < 360, true north. */
  readonly heading: number | null;
  readonly ignition: boolean | null;
  readonly odometerInMeters: number | null;
  readonly batteryVoltage: number | null;
  readonly connectionType: string | null;
  readonly rpm: number | null;
  readonly fuelLevel: number | null;
  /** Of geofence_in and geofence_out. */
  readonly geofenceId: string | null;
  /** As it was named when the ping came. */
  readonly geofenceName: string | null;
  /** Of geofence_out; null: it was inside when it was first seen (epoch milliseconds). */
  readonly enteredAt: number | null;
  /** From the start of what ended to its end, to the millisecond. */
  readonly durationInSeconds: number | null;
  /** Of route_started and route_finished. */
  readonly routeId: string | null;
  /** Of stop_started and stop_finished. */
  readonly activityId: string | null;
  /** Of a route or stop (epoch milliseconds). */
  readonly startTime: number | null;
  /** Of a finished route or stop (epoch milliseconds). */
  readonly endTime: number | null;
  /** Of a route. */
  readonly startLocation: StartLocation | null;
  /** Of a finished route, as what follows. */
  readonly endLocation: EndLocation | null;
  /** Whole metres. */
  readonly distanceInMeters: number | null;
  readonly maxSpeedInKmh: number | null;
  /** One decimal. */
  readonly averageSpeedInKmh: number | null;
  /** Standing, to the millisecond. */
  readonly idleTimeInSeconds: number | null;
  /** ignition_off | stationary | no_data */
  readonly endReason: string | null;
}

/** Where a route began, WGS-84 degrees. */
export interface StartLocation {
  readonly latitude: number;
  readonly longitude: number;
}

/** Where a route ended, WGS-84 degrees. */
export interface EndLocation {
  readonly latitude: number;
  readonly longitude: number;
}

/** The schema of subject fleet.events-value. */
export const fleetEventSchema = {
  type: 'record',
  namespace: 'waypost',
  name: 'FleetEvent',
  doc: 'One event of one device, before fan-out: it belongs to no subscription and has no eventId yet (R-10, R-13).',
  fields: [
    {
      name: 'fleetId',
      type: 'string',
    },
    {
      name: 'deviceId',
      type: 'string',
    },
    {
      name: 'eventType',
      type: 'string',
    },
    {
      name: 'eventTime',
      type: {
        type: 'long',
        logicalType: 'timestamp-millis',
      },
    },
    {
      name: 'resourceId',
      type: ['null', 'string'],
      doc: 'routeId, activityId or geofenceId; enters the eventId.',
      default: null,
    },
    {
      name: 'vehicleId',
      type: ['null', 'string'],
      default: null,
    },
    {
      name: 'licensePlate',
      type: ['null', 'string'],
      default: null,
    },
    {
      name: 'driverId',
      type: ['null', 'string'],
      default: null,
    },
    {
      name: 'latitude',
      type: ['null', 'double'],
      default: null,
    },
    {
      name: 'longitude',
      type: ['null', 'double'],
      default: null,
    },
    {
      name: 'locationTime',
      type: [
        'null',
        {
          type: 'long',
          logicalType: 'timestamp-millis',
        },
      ],
      doc: 'Only when the fix is older than the event.',
      default: null,
    },
    {
      name: 'altitudeInMeters',
      type: ['null', 'double'],
      default: null,
    },
    {
      name: 'speedInKmh',
      type: ['null', 'double'],
      default: null,
    },
    {
      name: 'heading',
      type: ['null', 'double'],
      doc: 'Degrees, 0 <= heading < 360, true north.',
      default: null,
    },
    {
      name: 'ignition',
      type: ['null', 'boolean'],
      default: null,
    },
    {
      name: 'odometerInMeters',
      type: ['null', 'long'],
      default: null,
    },
    {
      name: 'batteryVoltage',
      type: ['null', 'double'],
      default: null,
    },
    {
      name: 'connectionType',
      type: ['null', 'string'],
      default: null,
    },
    {
      name: 'rpm',
      type: ['null', 'int'],
      default: null,
    },
    {
      name: 'fuelLevel',
      type: ['null', 'double'],
      default: null,
    },
    {
      name: 'geofenceId',
      type: ['null', 'string'],
      doc: 'Of geofence_in and geofence_out.',
      default: null,
    },
    {
      name: 'geofenceName',
      type: ['null', 'string'],
      doc: 'As it was named when the ping came.',
      default: null,
    },
    {
      name: 'enteredAt',
      type: [
        'null',
        {
          type: 'long',
          logicalType: 'timestamp-millis',
        },
      ],
      doc: 'Of geofence_out; null: it was inside when it was first seen.',
      default: null,
    },
    {
      name: 'durationInSeconds',
      type: ['null', 'double'],
      doc: 'From the start of what ended to its end, to the millisecond.',
      default: null,
    },
    {
      name: 'routeId',
      type: ['null', 'string'],
      doc: 'Of route_started and route_finished.',
      default: null,
    },
    {
      name: 'activityId',
      type: ['null', 'string'],
      doc: 'Of stop_started and stop_finished.',
      default: null,
    },
    {
      name: 'startTime',
      type: [
        'null',
        {
          type: 'long',
          logicalType: 'timestamp-millis',
        },
      ],
      doc: 'Of a route or stop.',
      default: null,
    },
    {
      name: 'endTime',
      type: [
        'null',
        {
          type: 'long',
          logicalType: 'timestamp-millis',
        },
      ],
      doc: 'Of a finished route or stop.',
      default: null,
    },
    {
      name: 'startLocation',
      type: [
        'null',
        {
          type: 'record',
          name: 'StartLocation',
          doc: 'Where a route began, WGS-84 degrees.',
          fields: [
            {
              name: 'latitude',
              type: 'double',
            },
            {
              name: 'longitude',
              type: 'double',
            },
          ],
        },
      ],
      doc: 'Of a route.',
      default: null,
    },
    {
      name: 'endLocation',
      type: [
        'null',
        {
          type: 'record',
          name: 'EndLocation',
          doc: 'Where a route ended, WGS-84 degrees.',
          fields: [
            {
              name: 'latitude',
              type: 'double',
            },
            {
              name: 'longitude',
              type: 'double',
            },
          ],
        },
      ],
      doc: 'Of a finished route, as what follows.',
      default: null,
    },
    {
      name: 'distanceInMeters',
      type: ['null', 'long'],
      doc: 'Whole metres.',
      default: null,
    },
    {
      name: 'maxSpeedInKmh',
      type: ['null', 'double'],
      default: null,
    },
    {
      name: 'averageSpeedInKmh',
      type: ['null', 'double'],
      doc: 'One decimal.',
      default: null,
    },
    {
      name: 'idleTimeInSeconds',
      type: ['null', 'double'],
      doc: 'Standing, to the millisecond.',
      default: null,
    },
    {
      name: 'endReason',
      type: ['null', 'string'],
      doc: 'ignition_off | stationary | no_data',
      default: null,
    },
  ],
} as const;
