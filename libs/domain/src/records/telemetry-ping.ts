// Generated from schemas/*.avsc by "npm run codegen". Change the schema, not this file.

/** One ping of one device. null means not reported, never 0 or false. */
export interface TelemetryPing {
  readonly fleetId: string;
  /** The record key must be the same. */
  readonly deviceId: string;
  /** By the clock of the device, in UTC (epoch milliseconds). */
  readonly eventTime: number;
  /** By the clock of the ingest, in UTC (epoch milliseconds). */
  readonly receivedTime: number;
  /** Whether the device says that its fix is good. */
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
  /** Of devices on the vehicle's bus. */
  readonly rpm: number | null;
  /** Percent; of devices on the vehicle's bus. */
  readonly fuelLevel: number | null;
  readonly batteryVoltage: number | null;
  readonly connectionType: string | null;
  readonly vehicleId: string | null;
  readonly licensePlate: string | null;
  readonly driverId: string | null;
  /** The device's own record number. */
  readonly sequence: number | null;
  /** The device stored the ping while it had no coverage, and sent it later. */
  readonly buffered: boolean;
  /** Whatever else the producer wants to pass on. */
  readonly attributes: Readonly<Record<string, string>>;
}
