import { NOON, pingOf } from '../../../../test/support/samples.js';
import type { TelemetryPing } from '../records/telemetry-ping.js';

/** Meters of a degree of latitude near 52.1° on the ellipsoid. */
const METERS_PER_DEGREE = 111_257;

export const START = { latitude: 52.1, longitude: 4.9 };

/** The place so many meters north of the start; exact to a few centimeters within a kilometer. */
export function north(meters: number): typeof START {
  return { latitude: START.latitude + meters / METERS_PER_DEGREE, longitude: START.longitude };
}

interface Moment {
  readonly north?: number;
  readonly speed?: number;
  readonly ignition?: boolean;
  readonly lost?: boolean;
}

/** A ping so many seconds after noon. */
export function ping(second: number, { north: meters = 0, speed, ignition, lost = false }: Moment = {}): TelemetryPing {
  return pingOf({
    ...north(meters),
    eventTime: NOON + second * 1_000,
    positionValid: !lost,
    speedInKmh: speed ?? null,
    ignition: ignition ?? null,
  });
}

/** Epoch milliseconds. */
export function second(seconds: number): number {
  return NOON + seconds * 1_000;
}
