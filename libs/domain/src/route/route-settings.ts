import { speedOrNull } from '../ping/reported-values.js';
import { HOUR_MS } from '../time/units.js';

/** Thresholds of R-9. Times and distances are inclusive. */
export interface RouteSettings {
  readonly movingSpeedInKmh: number;
  readonly movingDistanceInMeters: number;
  readonly stillSpeedInKmh: number;
  readonly stillMs: number;
  readonly ignitionOffMs: number;
  readonly gapMs: number;
  readonly maxSpeedInKmh: number;
}

export const DEFAULT_ROUTE_SETTINGS: RouteSettings = Object.freeze({
  movingSpeedInKmh: 5,
  movingDistanceInMeters: 200,
  stillSpeedInKmh: 3,
  stillMs: 300_000,
  ignitionOffMs: 30_000,
  gapMs: HOUR_MS,
  maxSpeedInKmh: 250,
});

/** null: not reported, or faster than any vehicle. */
export function speedOf(
  { speedInKmh }: { readonly speedInKmh: number | null },
  { maxSpeedInKmh }: RouteSettings,
): number | null {
  const speed = speedOrNull(speedInKmh);
  return speed !== null && speed <= maxSpeedInKmh ? speed : null;
}
