/**
 * One event of one device before fan-out, as the schema `fleet.events-value` has it. It belongs to no
 * subscription yet and so has no eventId. null means "unknown".
 */
export interface FleetEvent {
  readonly fleetId: string;
  readonly deviceId: string;
  /** One of EVENT_TYPES. */
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
  /** Epoch milliseconds; only when the fix is older than the event. */
  readonly locationTime: number | null;
  readonly altitudeInMeters: number | null;
  readonly speedInKmh: number | null;
  /** Degrees, 0 <= heading < 360, true north. */
  readonly heading: number | null;
  /** The state after the event. */
  readonly ignition: boolean | null;
  readonly odometerInMeters: number | null;
  readonly batteryVoltage: number | null;
  readonly connectionType: string | null;
  readonly rpm: number | null;
  readonly fuelLevel: number | null;
}
