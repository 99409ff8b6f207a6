import type { FleetEvent } from '@waypost/domain';

/**
 * a second time, as plainly as they are written: the exact bytes that a receiver must get. It shares
 * no code with the product, so that a mistake in one of them shows.
 */
export function plainPayload(event: FleetEvent, eventId: string, format: string): string {
  if (format === 'legacy-v1') return legacyV1(event, eventId);
  const eventData = Object.fromEntries(
    [...COMMON, ...OWN].flatMap((name) => {
      const value = event[name];
      if (value === null) return [];
      return [[name, TIMES.has(name) ? iso(value as number) : value]];
    }),
  );
  return JSON.stringify({ eventId, eventTime: iso(event.eventTime), eventType: event.eventType, eventData });
}

const COMMON = [
  ...(['deviceId', 'fleetId', 'vehicleId', 'licensePlate', 'driverId', 'latitude', 'longitude'] as const),
  ...(['locationTime', 'altitudeInMeters', 'speedInKmh', 'heading', 'ignition', 'odometerInMeters'] as const),
  ...(['batteryVoltage', 'connectionType', 'rpm', 'fuelLevel'] as const),
];
const OWN = [
  ...(['geofenceId', 'geofenceName', 'enteredAt', 'routeId', 'activityId', 'startTime', 'startLocation'] as const),
  ...(['endTime', 'endLocation', 'distanceInMeters', 'durationInSeconds', 'maxSpeedInKmh'] as const),
  ...(['averageSpeedInKmh', 'idleTimeInSeconds', 'endReason'] as const),
];
const TIMES: ReadonlySet<string> = new Set(['locationTime', 'enteredAt', 'startTime', 'endTime']);

const LEGACY_NAMES = {
  latitude: 'lat',
  longitude: 'lng',
  speedInKmh: 'speed',
  heading: 'direction',
  ignition: 'ignition',
  odometerInMeters: 'odometer',
  vehicleId: 'vehicle_id',
  licensePlate: 'license_plate',
  driverId: 'driver_id',
  batteryVoltage: 'battery',
  rpm: 'rpm',
  fuelLevel: 'fuel_level',
  geofenceId: 'geofence_id',
  geofenceName: 'geofence_name',
  routeId: 'route_id',
  activityId: 'activity_id',
} as const;

function legacyV1(event: FleetEvent, eventId: string): string {
  const { eventType, fleetId, deviceId, eventTime } = event;
  const known = Object.entries(LEGACY_NAMES).flatMap(([name, legacyName]) => {
    const value = event[name as keyof typeof LEGACY_NAMES];
    if (value === null) return [];
    if (name === 'odometerInMeters') return [[legacyName, Math.floor((Number(value) + 50) / 100) / 10]];
    return [[legacyName, name === 'ignition' ? Number(value) : value]];
  });
  const head = { event_id: eventId, event: eventType, fleet_id: fleetId, device_id: deviceId, timestamp: eventTime };
  return JSON.stringify({ ...head, ...(Object.fromEntries(known) as object) });
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
