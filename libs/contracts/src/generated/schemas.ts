// Generated from schemas/*.avsc by "npm run codegen". Change the schema, not this file.

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

/** The schema of subject fleet.geofences-value. */
export const geofenceSchema = {
  type: 'record',
  namespace: 'waypost',
  name: 'Geofence',
  doc: 'One version of one geofence of a fleet (R-8): a circle or a polygon, the other is null. A deleted one is a tombstone.',
  fields: [
    {
      name: 'geofenceId',
      type: 'string',
    },
    {
      name: 'fleetId',
      type: 'string',
    },
    {
      name: 'name',
      type: 'string',
    },
    {
      name: 'circle',
      type: [
        'null',
        {
          type: 'record',
          name: 'GeofenceCircle',
          fields: [
            {
              name: 'latitude',
              type: 'double',
              doc: 'WGS-84 degrees.',
            },
            {
              name: 'longitude',
              type: 'double',
              doc: 'WGS-84 degrees.',
            },
            {
              name: 'radiusInMeters',
              type: 'double',
            },
          ],
        },
      ],
      default: null,
    },
    {
      name: 'polygon',
      type: [
        'null',
        {
          type: 'record',
          name: 'GeofencePolygon',
          fields: [
            {
              name: 'rings',
              doc: 'The outer ring, then the holes. A ring closes itself: its last point may repeat its first or not.',
              type: {
                type: 'array',
                items: {
                  type: 'array',
                  items: {
                    type: 'record',
                    name: 'GeoPoint',
                    fields: [
                      {
                        name: 'latitude',
                        type: 'double',
                        doc: 'WGS-84 degrees.',
                      },
                      {
                        name: 'longitude',
                        type: 'double',
                        doc: 'WGS-84 degrees.',
                      },
                    ],
                  },
                },
              },
            },
          ],
        },
      ],
      default: null,
    },
    {
      name: 'version',
      type: 'int',
      doc: 'Counts every change of this geofence, from 1.',
    },
    {
      name: 'createdAt',
      type: {
        type: 'long',
        logicalType: 'timestamp-millis',
      },
    },
    {
      name: 'updatedAt',
      type: {
        type: 'long',
        logicalType: 'timestamp-millis',
      },
    },
  ],
} as const;

/** The schema of subject fleet.settings-value. */
export const fleetSettingsSchema = {
  type: 'record',
  namespace: 'waypost',
  name: 'FleetSettings',
  doc: 'Defaults of one fleet (R-14).',
  fields: [
    {
      name: 'fleetId',
      type: 'string',
    },
    {
      name: 'name',
      type: ['null', 'string'],
      default: null,
    },
    {
      name: 'payloadFormat',
      type: 'string',
      doc: 'v1 | legacy-v1',
    },
    {
      name: 'routes',
      type: 'boolean',
      doc: 'Whether its devices make events of routes and stops (R-9).',
      default: false,
    },
    {
      name: 'version',
      type: 'int',
    },
    {
      name: 'createdAt',
      type: {
        type: 'long',
        logicalType: 'timestamp-millis',
      },
    },
    {
      name: 'updatedAt',
      type: {
        type: 'long',
        logicalType: 'timestamp-millis',
      },
    },
  ],
} as const;

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

/** The schema of subject telemetry.pings-value. */
export const telemetryPingSchema = {
  type: 'record',
  namespace: 'waypost',
  name: 'TelemetryPing',
  doc: 'One ping of one device (R-1). null means not reported, never 0 or false.',
  fields: [
    {
      name: 'fleetId',
      type: 'string',
    },
    {
      name: 'deviceId',
      type: 'string',
      doc: 'Equals the record key.',
    },
    {
      name: 'eventTime',
      type: {
        type: 'long',
        logicalType: 'timestamp-millis',
      },
      doc: 'Device clock, UTC.',
    },
    {
      name: 'receivedTime',
      type: {
        type: 'long',
        logicalType: 'timestamp-millis',
      },
      doc: 'Ingest clock, UTC.',
    },
    {
      name: 'positionValid',
      type: 'boolean',
      doc: 'The device says that the fix is good.',
    },
    {
      name: 'latitude',
      type: ['null', 'double'],
      doc: 'WGS-84 degrees.',
      default: null,
    },
    {
      name: 'longitude',
      type: ['null', 'double'],
      doc: 'WGS-84 degrees.',
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
      name: 'satellites',
      type: ['null', 'int'],
      default: null,
    },
    {
      name: 'hdop',
      type: ['null', 'double'],
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
      name: 'rpm',
      type: ['null', 'int'],
      doc: 'Only devices with a bus.',
      default: null,
    },
    {
      name: 'fuelLevel',
      type: ['null', 'double'],
      doc: 'Percent; only devices with a bus.',
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
      name: 'sequence',
      type: ['null', 'long'],
      doc: "The device's own record number.",
      default: null,
    },
    {
      name: 'buffered',
      type: 'boolean',
      doc: "Sent from the device's store after a loss of coverage.",
      default: false,
    },
    {
      name: 'attributes',
      type: {
        type: 'map',
        values: 'string',
      },
      default: {},
    },
  ],
} as const;

/** The schema of subject telemetry.rejected-value. */
export const rejectedTelemetrySchema = {
  type: 'record',
  namespace: 'waypost',
  name: 'RejectedTelemetry',
  doc: 'A ping that could not be taken, with its original bytes (R-2).',
  fields: [
    {
      name: 'sourceTopic',
      type: 'string',
    },
    {
      name: 'sourcePartition',
      type: 'int',
    },
    {
      name: 'sourceOffset',
      type: 'long',
    },
    {
      name: 'sourceTimestamp',
      type: {
        type: 'long',
        logicalType: 'timestamp-millis',
      },
    },
    {
      name: 'sourceKey',
      type: ['null', 'bytes'],
      default: null,
    },
    {
      name: 'sourceValue',
      type: ['null', 'bytes'],
      default: null,
    },
    {
      name: 'reason',
      type: 'string',
      doc: 'malformed | unknown_schema | incompatible_schema | invalid_field | key_mismatch | future',
    },
    {
      name: 'detail',
      type: ['null', 'string'],
      default: null,
    },
  ],
} as const;

/** The schema of subject webhook-delivery.replay-progress-value. */
export const replayProgressSchema = {
  type: 'record',
  namespace: 'waypost',
  name: 'ReplayProgress',
  doc: 'How far a replay has come (R-30); written in one transaction with its deliveries.',
  fields: [
    {
      name: 'replayId',
      type: 'string',
    },
    {
      name: 'subscriptionId',
      type: 'string',
    },
    {
      name: 'state',
      type: 'string',
      doc: 'running | completed | cancelled',
    },
    {
      name: 'attemptsEnd',
      type: 'long',
      doc: 'What is selected is decided by the attempts before this offset, also after a restart.',
    },
    {
      name: 'nextDeliveryOffset',
      type: 'long',
      doc: 'Original deliveries before this offset are done with.',
    },
    {
      name: 'matched',
      type: ['null', 'long'],
      default: null,
      doc: 'Deliveries that match; null: not yet counted.',
    },
    {
      name: 'sent',
      type: 'long',
      doc: 'Deliveries written so far.',
    },
    {
      name: 'startedAt',
      type: {
        type: 'long',
        logicalType: 'timestamp-millis',
      },
    },
    {
      name: 'updatedAt',
      type: {
        type: 'long',
        logicalType: 'timestamp-millis',
      },
    },
  ],
} as const;

/** The schema of subject webhook-delivery.subscription-state-value. */
export const subscriptionStateSchema = {
  type: 'record',
  namespace: 'waypost',
  name: 'SubscriptionState',
  doc: 'What the sender must not forget about a subscription (R-26, R-29). No record: nothing special.',
  fields: [
    {
      name: 'subscriptionId',
      type: 'string',
    },
    {
      name: 'parkedFrom',
      type: ['null', 'long'],
      default: null,
      doc: 'Offset of its lowest unfinished delivery while it is left out of the committed position of the partition.',
    },
    {
      name: 'foldFrom',
      type: ['null', 'long'],
      default: null,
      doc: 'Every attempt of a delivery from parkedFrom on lies at or after this offset of webhook.attempts.',
    },
    {
      name: 'failingSince',
      type: [
        'null',
        {
          type: 'long',
          logicalType: 'timestamp-millis',
        },
      ],
      default: null,
      doc: 'End of the first failed attempt since the last accepted one.',
    },
    {
      name: 'suspendedAt',
      type: [
        'null',
        {
          type: 'long',
          logicalType: 'timestamp-millis',
        },
      ],
      default: null,
      doc: 'Since when deliveries are held (R-29).',
    },
    {
      name: 'updatedAt',
      type: {
        type: 'long',
        logicalType: 'timestamp-millis',
      },
    },
  ],
} as const;

/** The schema of subject webhook.attempts-value. */
export const webhookAttemptSchema = {
  type: 'record',
  namespace: 'waypost',
  name: 'WebhookAttempt',
  doc: 'One attempt of one delivery with its outcome (R-24).',
  fields: [
    {
      name: 'eventId',
      type: 'string',
      doc: 'UUIDv5 (R-12).',
    },
    {
      name: 'subscriptionId',
      type: 'string',
    },
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
      name: 'format',
      type: 'string',
      doc: 'v1 | legacy-v1',
    },
    {
      name: 'series',
      type: 'int',
      default: 0,
    },
    {
      name: 'replayId',
      type: ['null', 'string'],
      default: null,
    },
    {
      name: 'deliveryOffset',
      type: 'long',
      doc: 'Offset of the delivery in the same partition of webhook.deliveries.',
    },
    {
      name: 'deliveryCreatedAt',
      type: {
        type: 'long',
        logicalType: 'timestamp-millis',
      },
    },
    {
      name: 'url',
      type: 'string',
      doc: 'Where this attempt went.',
    },
    {
      name: 'attempt',
      type: 'int',
      doc: '1 to 5.',
    },
    {
      name: 'dueAt',
      type: {
        type: 'long',
        logicalType: 'timestamp-millis',
      },
      doc: 'When this attempt should have started.',
    },
    {
      name: 'startedAt',
      type: {
        type: 'long',
        logicalType: 'timestamp-millis',
      },
    },
    {
      name: 'firstAttemptAt',
      type: {
        type: 'long',
        logicalType: 'timestamp-millis',
      },
      doc: 'startedAt of attempt 1 of the series.',
    },
    {
      name: 'durationMs',
      type: 'int',
    },
    {
      name: 'statusCode',
      type: ['null', 'int'],
      default: null,
    },
    {
      name: 'errorCode',
      type: ['null', 'string'],
      doc: 'Why there is no status code, or why the attempt was refused.',
      default: null,
    },
    {
      name: 'errorDetail',
      type: ['null', 'string'],
      default: null,
    },
    {
      name: 'outcome',
      type: 'string',
      doc: 'delivered | retrying | failed',
    },
    {
      name: 'decision',
      type: 'string',
      doc: 'Why this outcome, e.g. accepted, temporary_status, permanent_status, attempts_exhausted.',
    },
    {
      name: 'nextDueAt',
      type: [
        'null',
        {
          type: 'long',
          logicalType: 'timestamp-millis',
        },
      ],
      doc: 'Only when retrying.',
      default: null,
    },
    {
      name: 'body',
      type: ['null', 'string'],
      doc: 'Only in attempt 1.',
      default: null,
    },
  ],
} as const;

/** The schema of subject webhook.deliveries-value. */
export const webhookDeliverySchema = {
  type: 'record',
  namespace: 'waypost',
  name: 'WebhookDelivery',
  doc: 'One event for one subscription, its body frozen (R-15).',
  fields: [
    {
      name: 'eventId',
      type: 'string',
      doc: 'UUIDv5 (R-12).',
    },
    {
      name: 'subscriptionId',
      type: 'string',
    },
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
      name: 'format',
      type: 'string',
      doc: 'v1 | legacy-v1',
    },
    {
      name: 'body',
      type: 'string',
      doc: 'The exact UTF-8 text that is signed, sent, stored and returned.',
    },
    {
      name: 'createdAt',
      type: {
        type: 'long',
        logicalType: 'timestamp-millis',
      },
      doc: 'Clock of the fan-out.',
    },
    {
      name: 'series',
      type: 'int',
      doc: '0: the first sending; n: the n-th replay.',
      default: 0,
    },
    {
      name: 'replayId',
      type: ['null', 'string'],
      default: null,
    },
  ],
} as const;

/** The schema of subject webhook.operations-value. */
export const operationalEventSchema = {
  type: 'record',
  namespace: 'waypost',
  name: 'OperationalEvent',
  doc: 'Something that the owner of a subscription, or an operator, wants to know of its deliveries.',
  fields: [
    {
      name: 'id',
      type: 'string',
      doc: 'UUID; the same when the same thing is told again after a crash.',
    },
    {
      name: 'subscriptionId',
      type: 'string',
    },
    {
      name: 'fleetId',
      type: 'string',
    },
    {
      name: 'type',
      type: 'string',
      doc: 'exhausted | suspended | probed | resumed | disabled',
    },
    {
      name: 'occurredAt',
      type: {
        type: 'long',
        logicalType: 'timestamp-millis',
      },
    },
    {
      name: 'reason',
      type: 'string',
      doc: 'In words, for people.',
    },
    {
      name: 'eventId',
      type: ['null', 'string'],
      default: null,
      doc: 'The delivery that it is about.',
    },
    {
      name: 'deliveryOffset',
      type: ['null', 'long'],
      default: null,
      doc: 'Its offset in the same partition of webhook.deliveries.',
    },
    {
      name: 'statusCode',
      type: ['null', 'int'],
      default: null,
      doc: 'Of the last attempt or of the probe.',
    },
    {
      name: 'errorCode',
      type: ['null', 'string'],
      default: null,
      doc: 'As in webhook.attempts.',
    },
  ],
} as const;

/** The schema of subject webhook.replays-value. */
export const webhookReplaySchema = {
  type: 'record',
  namespace: 'waypost',
  name: 'WebhookReplay',
  doc: 'One version of what somebody asked to be sent again (R-30).',
  fields: [
    {
      name: 'replayId',
      type: 'string',
      doc: 'UUID.',
    },
    {
      name: 'subscriptionId',
      type: 'string',
    },
    {
      name: 'fleetId',
      type: 'string',
    },
    {
      name: 'series',
      type: 'int',
      doc: 'Of the deliveries that it makes: the n-th replay of the subscription.',
    },
    {
      name: 'startDate',
      type: {
        type: 'long',
        logicalType: 'timestamp-millis',
      },
      doc: 'Inclusive; compared with the time of the first attempt.',
    },
    {
      name: 'endDate',
      type: {
        type: 'long',
        logicalType: 'timestamp-millis',
      },
      doc: 'Exclusive.',
    },
    {
      name: 'status',
      type: ['null', 'string'],
      default: null,
      doc: 'delivered | failed | pending; null: any.',
    },
    {
      name: 'eventType',
      type: ['null', 'string'],
      default: null,
      doc: 'null: any.',
    },
    {
      name: 'deviceId',
      type: ['null', 'string'],
      default: null,
      doc: 'null: any.',
    },
    {
      name: 'ratePerSecond',
      type: 'int',
      doc: 'Deliveries written per second, at most.',
    },
    {
      name: 'cancelled',
      type: 'boolean',
      default: false,
    },
    {
      name: 'version',
      type: 'int',
      doc: 'Counts every change, from 1.',
    },
    {
      name: 'createdAt',
      type: {
        type: 'long',
        logicalType: 'timestamp-millis',
      },
    },
    {
      name: 'updatedAt',
      type: {
        type: 'long',
        logicalType: 'timestamp-millis',
      },
    },
  ],
} as const;

/** The schema of subject webhook.subscriptions-value. */
export const webhookSubscriptionSchema = {
  type: 'record',
  namespace: 'waypost',
  name: 'WebhookSubscription',
  doc: 'One version of one subscription (R-16, R-17). A deleted one is a tombstone.',
  fields: [
    {
      name: 'id',
      type: 'string',
    },
    {
      name: 'fleetId',
      type: 'string',
    },
    {
      name: 'eventType',
      type: 'string',
    },
    {
      name: 'url',
      type: 'string',
    },
    {
      name: 'status',
      type: 'string',
      doc: 'active | paused | disabled',
    },
    {
      name: 'disabledReason',
      type: ['null', 'string'],
      default: null,
    },
    {
      name: 'payloadFormat',
      type: 'string',
      doc: 'v1 | legacy-v1',
    },
    {
      name: 'deviceIds',
      type: [
        'null',
        {
          type: 'array',
          items: 'string',
        },
      ],
      doc: 'null: every device.',
      default: null,
    },
    {
      name: 'auth',
      type: [
        'null',
        {
          type: 'record',
          name: 'BearerAuth',
          doc: 'OAuth2 client credentials (R-23).',
          fields: [
            {
              name: 'tokenUrl',
              type: 'string',
            },
            {
              name: 'clientId',
              type: 'string',
            },
            {
              name: 'sealedClientSecret',
              type: 'string',
            },
            {
              name: 'scope',
              type: ['null', 'string'],
              default: null,
            },
          ],
        },
      ],
      doc: 'null: none.',
      default: null,
    },
    {
      name: 'rateLimitPerSecond',
      type: ['null', 'int'],
      default: null,
    },
    {
      name: 'onOutage',
      type: 'string',
      doc: 'fail | hold',
    },
    {
      name: 'strictOrder',
      type: 'boolean',
      default: false,
    },
    {
      name: 'secrets',
      type: {
        type: 'array',
        items: {
          type: 'record',
          name: 'SealedSecret',
          doc: 'A signing secret under AES-256-GCM (R-17).',
          fields: [
            {
              name: 'sealed',
              type: 'string',
            },
            {
              name: 'expiresAt',
              type: [
                'null',
                {
                  type: 'long',
                  logicalType: 'timestamp-millis',
                },
              ],
              doc: 'null: the current one; else it signs until then.',
              default: null,
            },
          ],
        },
      },
      doc: 'Newest first.',
    },
    {
      name: 'version',
      type: 'int',
      doc: 'Counts every change of this subscription, from 1.',
    },
    {
      name: 'createdAt',
      type: {
        type: 'long',
        logicalType: 'timestamp-millis',
      },
    },
    {
      name: 'updatedAt',
      type: {
        type: 'long',
        logicalType: 'timestamp-millis',
      },
    },
  ],
} as const;
