import type { FixedPing } from '../telemetry/fix.js';
import type { RouteSettings } from './route-settings.js';

/** What the rules of routes look at of a valid ping. */
export type Fix = Pick<FixedPing, 'eventTime' | 'latitude' | 'longitude' | 'speedInKmh'>;

/** null: not reported, or a speed that no vehicle has. */
export function speedOf({ speedInKmh }: Fix, settings: RouteSettings): number | null {
  // Written so that NaN fails.
  return speedInKmh !== null && speedInKmh >= 0 && speedInKmh <= settings.maxSpeedInKmh ? speedInKmh : null;
}
