import { draftEvent, type FleetEventDraft } from '../event/draft-event.js';
import type { EventType } from '../event/event-type.js';
import type { DeviceState } from '../records/device-state.js';
import type { TelemetryPing } from '../records/telemetry-ping.js';
import { finiteOrNull, headingOrNull, speedOrNull, textOrNull } from './reported-values.js';
import { hasValidFix } from './valid-fix.js';

/** every measurement is the ping's own. Without a valid fix, the location is the last valid one with its time. */
export function eventOfPing(
  eventType: EventType,
  ping: TelemetryPing,
  ignition: boolean | null,
  before: DeviceState | null,
): FleetEventDraft {
  const fixed = hasValidFix(ping);
  const event = draftEvent(ping.fleetId, ping.deviceId, eventType, ping.eventTime);
  event.vehicleId = textOrNull(ping.vehicleId);
  event.licensePlate = textOrNull(ping.licensePlate);
  event.driverId = textOrNull(ping.driverId);
  event.latitude = fixed ? ping.latitude : (before?.latitude ?? null);
  event.longitude = fixed ? ping.longitude : (before?.longitude ?? null);
  event.locationTime = fixed ? null : (before?.fixTime ?? null);
  event.altitudeInMeters = finiteOrNull(ping.altitudeInMeters);
  event.speedInKmh = speedOrNull(ping.speedInKmh);
  event.heading = headingOrNull(ping.heading);
  event.ignition = ignition;
  event.odometerInMeters = finiteOrNull(ping.odometerInMeters);
  event.batteryVoltage = finiteOrNull(ping.batteryVoltage);
  event.connectionType = textOrNull(ping.connectionType);
  event.rpm = finiteOrNull(ping.rpm);
  event.fuelLevel = finiteOrNull(ping.fuelLevel);
  return event;
}
