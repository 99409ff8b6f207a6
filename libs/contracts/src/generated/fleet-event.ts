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
  ],
} as const;
