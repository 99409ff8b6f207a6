import type { EventType } from '../event/event-type.js';
import { NO_DETAILS, type FleetEvent } from '../event/fleet-event.js';
import type { DeviceState } from './device-state.js';
import { hasValidFix } from './fix.js';
import type { TelemetryPing } from './telemetry-ping.js';

/**
 * The event that a ping makes. Every measurement is the ping's own; what it does not report stays unknown.
 * Without a valid fix the location is the last valid one, with its time.
 *
 * @param ignition the state after the event
 * @param before what was remembered of the device when the ping came
 */
export function eventOfPing(
  eventType: EventType,
  ping: TelemetryPing,
  ignition: boolean | null,
  before: DeviceState | null,
): FleetEvent {
  const fixed = hasValidFix(ping);
  return {
    fleetId: ping.fleetId,
    deviceId: ping.deviceId,
    eventType,
    eventTime: ping.eventTime,
    resourceId: null,
    vehicleId: textOrNull(ping.vehicleId),
    licensePlate: textOrNull(ping.licensePlate),
    driverId: textOrNull(ping.driverId),
    latitude: fixed ? ping.latitude : (before?.latitude ?? null),
    longitude: fixed ? ping.longitude : (before?.longitude ?? null),
    locationTime: fixed ? null : (before?.fixTime ?? null),
    altitudeInMeters: finiteOrNull(ping.altitudeInMeters),
    speedInKmh: finiteOrNull(ping.speedInKmh),
    heading: headingOrNull(ping.heading),
    ignition,
    odometerInMeters: finiteOrNull(ping.odometerInMeters),
    batteryVoltage: finiteOrNull(ping.batteryVoltage),
    connectionType: textOrNull(ping.connectionType),
    rpm: finiteOrNull(ping.rpm),
    fuelLevel: finiteOrNull(ping.fuelLevel),
    ...NO_DETAILS,
  };
}

/** Avro's double may be NaN or infinite; JSON has no such number. */
export function finiteOrNull(value: number | null): number | null {
  return value !== null && Number.isFinite(value) ? value : null;
}

/** Degrees from 0 to below 360; anything else is no direction. */
export function headingOrNull(value: number | null): number | null {
  return value !== null && value >= 0 && value < 360 ? value : null;
}

/** An empty text says nothing, and R-13 sends none. */
export function textOrNull(value: string | null): string | null {
  return value === '' ? null : value;
}
