import type { TelemetryPing } from '../records/telemetry-ping.js';

export type FixedPing = TelemetryPing & { readonly latitude: number; readonly longitude: number };

/** a fix is valid if the device says so and both coordinates are present, in range and not (0,0). */
export function hasValidFix(ping: TelemetryPing): ping is FixedPing {
  const { positionValid, latitude, longitude } = ping;
  if (!positionValid || latitude === null || longitude === null) return false;
  // True for NaN.
  if (!(latitude >= -90 && latitude <= 90 && longitude >= -180 && longitude <= 180)) return false;
  return latitude !== 0 || longitude !== 0;
}
