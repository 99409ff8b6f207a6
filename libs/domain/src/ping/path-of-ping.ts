import type { PathPoint } from '../history/path-history.js';
import type { TelemetryPing } from '../records/telemetry-ping.js';
import { checkPing } from './check-ping.js';
import { isFuture } from './future-ping.js';
import { finiteOrNull, headingOrNull, speedOrNull } from './reported-values.js';
import { hasValidFix } from './valid-fix.js';

/** Every ping that is not rejected; null: it is rejected. Depends only on the ping and its record. */
export function pathPointOf(ping: TelemetryPing, recordKey: string | null, appendedAt: number): PathPoint | null {
  if (checkPing(ping, recordKey).type !== 'valid' || isFuture(ping, appendedAt)) return null;
  return {
    fleetId: ping.fleetId,
    deviceId: ping.deviceId,
    eventTime: ping.eventTime,
    latitude: finiteOrNull(ping.latitude),
    longitude: finiteOrNull(ping.longitude),
    speedInKmh: speedOrNull(ping.speedInKmh),
    heading: headingOrNull(ping.heading),
    ignition: ping.ignition,
    odometerInMeters: finiteOrNull(ping.odometerInMeters),
    rpm: finiteOrNull(ping.rpm),
    fuelLevel: finiteOrNull(ping.fuelLevel),
    valid: hasValidFix(ping),
  };
}
