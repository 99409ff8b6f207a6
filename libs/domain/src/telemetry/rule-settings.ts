import { DEFAULT_GEOFENCE_SETTINGS, type GeofenceSettings } from '../geofence/decide-geofences.js';
import { MAX_AHEAD_MS } from '../ping/check-ping.js';
import { DEFAULT_ROUTE_SETTINGS, type RouteSettings } from '../route/route-settings.js';

/** Two positions of a device are at least this far apart in event time, ignition changes aside. */
export const POSITION_WINDOW_MS = 180_000;

/** The thresholds of the rules. Only a back-test passes others than the default. */
export interface RuleSettings {
  /** Inclusive: a ping exactly this long after the last position is sent. */
  readonly positionWindowMs: number;
  /** A ping further ahead of its receivedTime than this is rejected. */
  readonly maxAheadMs: number;
  /** A ping further behind its receivedTime than this serves paths only. */
  readonly maxAgeMs: number;
  readonly geofences: GeofenceSettings;
  /** null: there are no routes and stops. */
  readonly routes: RouteSettings | null;
}

export const DEFAULT_RULE_SETTINGS: RuleSettings = Object.freeze({
  positionWindowMs: POSITION_WINDOW_MS,
  maxAheadMs: MAX_AHEAD_MS,
  maxAgeMs: 15 * 86_400_000,
  geofences: DEFAULT_GEOFENCE_SETTINGS,
  routes: DEFAULT_ROUTE_SETTINGS,
});
