// Generated from schemas/*.avsc by "npm run codegen". Change the schema, not this file.

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
