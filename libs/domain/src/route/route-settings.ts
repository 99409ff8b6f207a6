/** The thresholds of routes and stops. Times and distances are inclusive: what reaches them counts. */
export interface RouteSettings {
  /** A ping at least this fast is a moving one. */
  readonly movingSpeedInKmh: number;
  /** So is one at least this far from the stop point. */
  readonly movingDistanceInMeters: number;
  /** A ping slower than this is a still one. */
  readonly stillSpeedInKmh: number;
  /** Still for so long: the route has ended. */
  readonly stillMs: number;
  /** Ignition off for so long: the route has ended. */
  readonly ignitionOffMs: number;
  /** No valid fix for so long: the route has ended. */
  readonly gapMs: number;
  /** What is faster is an error of the device: such a speed was not reported, such a way not driven. */
  readonly maxSpeedInKmh: number;
}

export const DEFAULT_ROUTE_SETTINGS: RouteSettings = Object.freeze({
  movingSpeedInKmh: 5,
  movingDistanceInMeters: 200,
  stillSpeedInKmh: 3,
  stillMs: 300_000,
  ignitionOffMs: 30_000,
  gapMs: 3_600_000,
  maxSpeedInKmh: 250,
});

/** null: not reported, or faster than any vehicle. */
export function speedOf(
  { speedInKmh }: { readonly speedInKmh: number | null },
  { maxSpeedInKmh }: RouteSettings,
): number | null {
  // Written so that NaN fails.
  return speedInKmh !== null && speedInKmh >= 0 && speedInKmh <= maxSpeedInKmh ? speedInKmh : null;
}
