import { hasValidFix } from '../telemetry/fix.js';
import type { TelemetryPing } from '../telemetry/telemetry-ping.js';
import type { RouteSettings } from './route-settings.js';

/** A valid ping as the rules of routes see it. */
export interface Fix {
  readonly time: number;
  readonly latitude: number;
  readonly longitude: number;
  /** null: not reported, or a speed that no vehicle has. */
  readonly speedInKmh: number | null;
}

/** null: the ping has no valid fix, and so is neither moving nor still. */
export function fixOfPing(ping: TelemetryPing, settings: RouteSettings): Fix | null {
  if (!hasValidFix(ping)) return null;
  const { latitude, longitude, speedInKmh } = ping;
  // Written so that NaN fails.
  const sensible = speedInKmh !== null && speedInKmh >= 0 && speedInKmh <= settings.maxSpeedInKmh;
  return { time: ping.eventTime, latitude, longitude, speedInKmh: sensible ? speedInKmh : null };
}
