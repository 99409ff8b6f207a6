// Generated from schemas/telemetry.pings-value.avsc by "npm run codegen". Change the schema, not this file.

/** One ping of one device. null means not reported, never 0 or false. */
export interface TelemetryPing {
  readonly fleetId: string;
  /** Equals the record key. */
  readonly deviceId: string;
  /** Device clock, UTC (epoch milliseconds). */
  readonly eventTime: number;
  /** Ingest clock, UTC (epoch milliseconds). */
  readonly receivedTime: number;
  /** The device says that the fix is good. */
  readonly positionValid: boolean;
  /** WGS-84 degrees. */
  readonly latitude: number | null;
  /** WGS-84 degrees. */
  readonly longitude: number | null;
  readonly altitudeInMeters: number | null;
  readonly speedInKmh: number | null;
  /** Degrees, 0 <= heading < 360, true north. */
  readonly heading: number | null;
  readonly satellites: number | null;
  readonly hdop: number | null;
  readonly ignition: boolean | null;
  readonly odometerInMeters: number | null;
  /** Only devices with a bus. */
  readonly rpm: number | null;
  /** Percent; only devices with a bus. */
  readonly fuelLevel: number | null;
  readonly batteryVoltage: number | null;
  readonly connectionType: string | null;
  readonly vehicleId: string | null;
  readonly licensePlate: string | null;
  readonly driverId: string | null;
  /** The device's own record number. */
  readonly sequence: number | null;
  /** Sent from the device's store after a loss of coverage. */
  readonly buffered: boolean;
  readonly attributes: Readonly<Record<string, string>>;
}

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
