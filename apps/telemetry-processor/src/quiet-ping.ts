import { hasValidFix, type FixedPing, type GeoBox, type RuleSettings, type TelemetryPing } from '@waypost/domain';
import type { AppliedRules } from './applied-rules.js';
import {
  ARMED,
  CALM_EAST,
  CALM_NORTH,
  CALM_REVISION,
  CALM_SOUTH,
  CALM_WEST,
  FIX_TIME,
  FLAGS,
  GEOFENCES_SEEN_AT,
  HAS_FIX_TIME,
  HAS_GEOFENCES,
  HAS_IGNITION,
  HAS_LAST_SENT_TIME,
  HAS_LATITUDE,
  HAS_LONGITUDE,
  IGNITION_ON,
  LAST_SENT_TIME,
  LATITUDE,
  LONGITUDE,
  NEWEST_EVENT_TIME,
  STEPS_PER_DEGREE,
  TRIP,
} from './device-state-bytes.js';
import type { QuietMove, StoredDeviceState } from './stored-device-state.js';
import { FLAGS as TRIP_FLAGS } from './trip-bytes.js';
import { addLeg, NO_LEG, NOT_QUIET, quietLegOf } from './quiet-trip.js';

/** A device of which all that is known that a quiet ping builds on. */
const KNOWN = HAS_LAST_SENT_TIME | HAS_FIX_TIME | HAS_LATITUDE | HAS_LONGITUDE | HAS_GEOFENCES;

/**
 * Nine pings in ten are quiet: they make no event, and of their device they change no more than where it is, and how far it went.
 * They are found by some comparisons in the stored bytes, which costs a small part of decidePing() and evolveDevice(). These
 * two say what is right: what is found quiet here makes no event there, and leaves the same state (decision 0032).
 *
 * @param ping a checked one of this device
 * @returns null: the rules have to be asked
 */
export const quietMoveOf = (state: StoredDeviceState, ping: TelemetryPing, applied: AppliedRules): QuietMove | null => {
  const { view, at } = state;
  const { settings, view: geofences } = applied;
  if (geofences === null || !hasValidFix(ping) || !isInWindow(view, at, ping, settings)) return null;
  const leg = legOf(view, at, ping, settings);
  if (leg === NOT_QUIET) return null;
  const { fleet } = geofences;
  const seenAt = Math.max(geofences.at, view.getFloat64(at + GEOFENCES_SEEN_AT));
  if (fleet === undefined) return state.visits.length > 0 ? null : moveOf(ping, settings, leg, seenAt, null, 0);
  const { revision } = fleet;
  if (isCalm(view, at, ping, revision)) return moveOf(ping, settings, leg, seenAt, null, revision);
  const before = state.geofences;
  const area = before === null ? null : fleet.calmArea(ping.latitude, ping.longitude, seenAt, before);
  return area === null ? null : moveOf(ping, settings, leg, seenAt, area, revision);
};

const moveOf = (
  ping: FixedPing,
  settings: RuleSettings,
  leg: number,
  seenAt: number,
  calmArea: GeoBox | null,
  revision: number,
): QuietMove => ({ ping, settings, leg, seenAt, calmArea, revision });

/** A newer ping within the window of the last position, no ignition change waiting or coming, neither late nor early. */
const isInWindow = (view: DataView, at: number, ping: FixedPing, settings: RuleSettings): boolean => {
  const flags = view.getUint8(at + FLAGS);
  if ((flags & (KNOWN | ARMED)) !== KNOWN) return false;
  const { ignition, eventTime, receivedTime } = ping;
  if (
    ignition !== null &&
    (flags & (HAS_IGNITION | IGNITION_ON)) !== (ignition ? HAS_IGNITION | IGNITION_ON : HAS_IGNITION)
  )
    return false;
  const ageMs = receivedTime - eventTime;
  if (ageMs > settings.maxAgeMs || -ageMs > settings.maxAheadMs) return false;
  if (eventTime <= view.getFloat64(at + NEWEST_EVENT_TIME)) return false;
  return eventTime - view.getFloat64(at + LAST_SENT_TIME) < settings.positionWindowMs;
};

const legOf = (view: DataView, at: number, ping: FixedPing, { routes }: RuleSettings): number => {
  if (routes === null) return view.getUint8(at + TRIP + TRIP_FLAGS) === 0 ? NO_LEG : NOT_QUIET;
  return quietLegOf(view, at + TRIP, ping, view.getFloat64(at + FIX_TIME), routes);
};

const isCalm = (view: DataView, at: number, { latitude, longitude }: FixedPing, revision: number): boolean => {
  if (view.getInt32(at + CALM_REVISION) !== revision) return false;
  const north = latitude * STEPS_PER_DEGREE;
  if (!(north > view.getInt32(at + CALM_SOUTH) && north < view.getInt32(at + CALM_NORTH))) return false;
  const east = longitude * STEPS_PER_DEGREE;
  return east > view.getInt32(at + CALM_WEST) && east < view.getInt32(at + CALM_EAST);
};

/** In place of evolveDevice(). */
export const applyMove = (view: DataView, at: number, move: QuietMove): void => {
  const { ping, settings, leg, seenAt, calmArea, revision } = move;
  if (leg !== NO_LEG && settings.routes !== null)
    addLeg(view, at + TRIP, ping, leg, view.getFloat64(at + FIX_TIME), settings.routes);
  view.setFloat64(at + NEWEST_EVENT_TIME, ping.eventTime);
  view.setFloat64(at + FIX_TIME, ping.eventTime);
  view.setFloat64(at + LATITUDE, ping.latitude);
  view.setFloat64(at + LONGITUDE, ping.longitude);
  view.setFloat64(at + GEOFENCES_SEEN_AT, seenAt);
  if (calmArea !== null) keepCalmArea(view, at, calmArea, revision);
};

const keepCalmArea = (view: DataView, at: number, area: GeoBox, revision: number): void => {
  view.setInt32(at + CALM_REVISION, revision);
  view.setInt32(at + CALM_SOUTH, Math.ceil(area.minLatitude * STEPS_PER_DEGREE));
  view.setInt32(at + CALM_NORTH, Math.floor(area.maxLatitude * STEPS_PER_DEGREE));
  view.setInt32(at + CALM_WEST, Math.ceil(area.minLongitude * STEPS_PER_DEGREE));
  view.setInt32(at + CALM_EAST, Math.floor(area.maxLongitude * STEPS_PER_DEGREE));
};

/** Nothing is known any more. */
export const forgetCalmArea = (view: DataView, at: number): void => {
  view.setInt32(at + CALM_REVISION, 0);
};
