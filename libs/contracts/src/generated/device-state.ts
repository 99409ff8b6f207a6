// Generated from schemas/telemetry-processor.device-state-value.avsc by "npm run codegen". Change the schema, not this file.

/** What the rules remember of one device. Event time only. */
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
}

/** The schema of subject telemetry-processor.device-state-value. */
export const deviceStateSchema = {
  type: 'record',
  namespace: 'waypost',
  name: 'DeviceState',
  doc: 'What the rules remember of one device (R-4 to R-7). Event time only.',
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
  ],
} as const;
