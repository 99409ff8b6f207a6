// Generated from schemas/telemetry-processor.device-state-value.avsc by "npm run codegen". Change the schema, not this file.

/** What the rules remember of one device. Event time only, but for the time of the view of geofences. */
export interface DeviceState {
  /** Epoch milliseconds. */
  readonly newestEventTime: number;
  /** null: never known. */
  readonly ignition: boolean | null;
  /** eventTime of the last position sent (epoch milliseconds). */
  readonly lastSentTime: number | null;
  /** An ignition change waits for its position. */
  readonly armed: boolean;
  /** eventTime of the last valid fix (epoch milliseconds). */
  readonly fixTime: number | null;
  readonly latitude: number | null;
  readonly longitude: number | null;
  /** null: no valid fix yet. */
  readonly geofences: DeviceGeofences | null;
  /** null: no valid fix yet. */
  readonly trip: Trip | null;
}

/** The geofences of a device, as of its last valid fix. */
export interface DeviceGeofences {
  /** When the ping with that fix was appended to telemetry.pings: geofences that are newer are new to the device (epoch milliseconds). */
  readonly seenAt: number;
  /** By geofenceId. */
  readonly visits: readonly GeofenceVisit[];
}

/** A geofence that the device is in, or is not confirmed to have left. */
export interface GeofenceVisit {
  readonly geofenceId: string;
  /** eventTime of geofence_in; null: it was inside when it was first seen (epoch milliseconds). */
  readonly enteredAt: number | null;
  /** eventTime of the first of the fixes beyond the margin; null: the last fix is not (epoch milliseconds). */
  readonly leavingSince: number | null;
  /** How many of the last fixes are beyond the margin. */
  readonly leavingFixes: number;
}

/** Where the device is between its routes and stops. */
export interface Trip {
  /** When the route began, or else the stop; null: the stop in which the device was first seen (epoch milliseconds). */
  readonly since: number | null;
  /** With longitude: where the route began, or else the stop point. */
  readonly latitude: number;
  readonly longitude: number;
  /** At a stop: the newest valid ping was a moving one. */
  readonly moving: boolean;
  /** The greatest speed of the route; at a stop, that of the moving ping. null: none was reported. */
  readonly maxSpeedInKmh: number | null;
  /** null: at a stop. */
  readonly route: RouteProgress | null;
  /** At a stop, behind a moving ping: the ping without a fix that turned the ignition off since (epoch milliseconds). */
  readonly ignitionOffSince: number | null;
}

/** A route that goes on. */
export interface RouteProgress {
  /** Of the fix up to which the way was measured (epoch milliseconds). */
  readonly wayTime: number;
  readonly wayLatitude: number;
  readonly wayLongitude: number;
  /** From the start to there. */
  readonly distanceInMeters: number;
  /** Standing on the way to there. */
  readonly idleMs: number;
  /** The vehicle stands there since then. */
  readonly standing: boolean;
  /** The ping that turned the ignition off (epoch milliseconds). */
  readonly ignitionOffSince: number | null;
}

/** The schema of subject telemetry-processor.device-state-value. */
export const deviceStateSchema = {
  type: 'record',
  namespace: 'waypost',
  name: 'DeviceState',
  doc: 'What the rules remember of one device (R-4 to R-9). Event time only, but for the time of the view of geofences.',
  fields: [
    {
      name: 'newestEventTime',
      type: {
        type: 'long',
        logicalType: 'timestamp-millis',
      },
    },
    {
      name: 'ignition',
      type: ['null', 'boolean'],
      doc: 'null: never known.',
      default: null,
    },
    {
      name: 'lastSentTime',
      type: [
        'null',
        {
          type: 'long',
          logicalType: 'timestamp-millis',
        },
      ],
      doc: 'eventTime of the last position sent.',
      default: null,
    },
    {
      name: 'armed',
      type: 'boolean',
      doc: 'An ignition change waits for its position.',
    },
    {
      name: 'fixTime',
      type: [
        'null',
        {
          type: 'long',
          logicalType: 'timestamp-millis',
        },
      ],
      doc: 'eventTime of the last valid fix.',
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
      name: 'geofences',
      type: [
        'null',
        {
          type: 'record',
          name: 'DeviceGeofences',
          doc: 'The geofences of a device, as of its last valid fix (R-8).',
          fields: [
            {
              name: 'seenAt',
              type: {
                type: 'long',
                logicalType: 'timestamp-millis',
              },
              doc: 'When the ping with that fix was appended to telemetry.pings: geofences that are newer are new to the device.',
            },
            {
              name: 'visits',
              type: {
                type: 'array',
                items: {
                  type: 'record',
                  name: 'GeofenceVisit',
                  doc: 'A geofence that the device is in, or is not confirmed to have left.',
                  fields: [
                    {
                      name: 'geofenceId',
                      type: 'string',
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
                      doc: 'eventTime of geofence_in; null: it was inside when it was first seen.',
                      default: null,
                    },
                    {
                      name: 'leavingSince',
                      type: [
                        'null',
                        {
                          type: 'long',
                          logicalType: 'timestamp-millis',
                        },
                      ],
                      doc: 'eventTime of the first of the fixes beyond the margin; null: the last fix is not.',
                      default: null,
                    },
                    {
                      name: 'leavingFixes',
                      type: 'int',
                      doc: 'How many of the last fixes are beyond the margin.',
                      default: 0,
                    },
                  ],
                },
              },
              doc: 'By geofenceId.',
            },
          ],
        },
      ],
      doc: 'null: no valid fix yet.',
      default: null,
    },
    {
      name: 'trip',
      type: [
        'null',
        {
          type: 'record',
          name: 'Trip',
          doc: 'Where the device is between its routes and stops (R-9).',
          fields: [
            {
              name: 'since',
              type: [
                'null',
                {
                  type: 'long',
                  logicalType: 'timestamp-millis',
                },
              ],
              doc: 'When the route began, or else the stop; null: the stop in which the device was first seen.',
              default: null,
            },
            {
              name: 'latitude',
              type: 'double',
              doc: 'With longitude: where the route began, or else the stop point.',
            },
            {
              name: 'longitude',
              type: 'double',
            },
            {
              name: 'moving',
              type: 'boolean',
              doc: 'At a stop: the newest valid ping was a moving one.',
            },
            {
              name: 'maxSpeedInKmh',
              type: ['null', 'double'],
              doc: 'The greatest speed of the route; at a stop, that of the moving ping. null: none was reported.',
              default: null,
            },
            {
              name: 'route',
              type: [
                'null',
                {
                  type: 'record',
                  name: 'RouteProgress',
                  doc: 'A route that goes on.',
                  fields: [
                    {
                      name: 'wayTime',
                      type: {
                        type: 'long',
                        logicalType: 'timestamp-millis',
                      },
                      doc: 'Of the fix up to which the way was measured.',
                    },
                    {
                      name: 'wayLatitude',
                      type: 'double',
                    },
                    {
                      name: 'wayLongitude',
                      type: 'double',
                    },
                    {
                      name: 'distanceInMeters',
                      type: 'double',
                      doc: 'From the start to there.',
                    },
                    {
                      name: 'idleMs',
                      type: 'long',
                      doc: 'Standing on the way to there.',
                    },
                    {
                      name: 'standing',
                      type: 'boolean',
                      doc: 'The vehicle stands there since then.',
                    },
                    {
                      name: 'ignitionOffSince',
                      type: [
                        'null',
                        {
                          type: 'long',
                          logicalType: 'timestamp-millis',
                        },
                      ],
                      doc: 'The ping that turned the ignition off.',
                      default: null,
                    },
                  ],
                },
              ],
              doc: 'null: at a stop.',
              default: null,
            },
            {
              name: 'ignitionOffSince',
              type: [
                'null',
                {
                  type: 'long',
                  logicalType: 'timestamp-millis',
                },
              ],
              doc: 'At a stop, behind a moving ping: the ping without a fix that turned the ignition off since.',
              default: null,
            },
          ],
        },
      ],
      doc: 'null: no valid fix yet.',
      default: null,
    },
  ],
} as const;
