import { DEFAULT_GEOFENCE_SETTINGS, type GeofenceSettings } from '../geofence/geofence-settings.js';
import { MAX_AHEAD_MS } from '../ping/future-ping.js';
import { DEFAULT_ROUTE_SETTINGS, type RouteSettings } from '../route/route-settings.js';
import { DAY_MS } from '../time/units.js';

/** the sampling window, in event time. */
export const POSITION_WINDOW_MS = 180_000;

/** a ping older than this on receipt counts for paths only. */
const MAX_AGE_MS = 15 * DAY_MS;

/** Only a back-test passes anything but the default. */
export interface RuleSettings {
  readonly positionWindowMs: number;
  readonly maxAheadMs: number;
  readonly maxAgeMs: number;
  readonly geofences: GeofenceSettings;
  readonly routes: RouteSettings | null;
}

export const DEFAULT_RULE_SETTINGS: RuleSettings = Object.freeze({
  positionWindowMs: POSITION_WINDOW_MS,
  maxAheadMs: MAX_AHEAD_MS,
  maxAgeMs: MAX_AGE_MS,
  geofences: DEFAULT_GEOFENCE_SETTINGS,
  routes: DEFAULT_ROUTE_SETTINGS,
});
