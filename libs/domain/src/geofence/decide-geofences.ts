import type { EventType } from '../event/event-type.js';
import type { FleetEventDraft } from '../event/fleet-event.js';
import type { DeviceGeofences, GeofenceVisit } from '../records/device-state.js';
import type { FleetEvent } from '../records/fleet-event.js';
import type { FleetGeofences } from './geofence-history.js';
import type { GeofenceVersion, NamedGeofence } from './geofence-version.js';

/** The geofences that a ping sees. */
export interface GeofenceView {
  /** undefined: the fleet has none. */
  readonly fleet: FleetGeofences | undefined;
  /** When the ping was appended to its topic, epoch milliseconds (decision 0028). */
  readonly at: number;
}

/** A valid fix. */
export interface GeofenceFix {
  /** Epoch milliseconds. */
  readonly eventTime: number;
  readonly latitude: number;
  readonly longitude: number;
}

export interface GeofenceDecision extends DeviceGeofences {
  /** By geofenceId, as the events are published. */
  readonly left: readonly LeftGeofence[];
  readonly entered: readonly NamedGeofence[];
}

export interface LeftGeofence {
  readonly geofence: NamedGeofence;
  /** Epoch milliseconds; null: unknown. */
  readonly enteredAt: number | null;
}

const NO_VISITS: readonly GeofenceVisit[] = Object.freeze([]);
const NO_VERSIONS: readonly GeofenceVersion[] = Object.freeze([]);
const NO_LEFT: readonly LeftGeofence[] = Object.freeze([]);
const NO_ENTERED: readonly NamedGeofence[] = Object.freeze([]);

/**
 * What a valid fix means for the geofences of its device.
 *
 * A geofence that the fix is in is entered with the first such fix. Without an event when the device had no fix before,
 * or when the geofence is newer than what the last fix saw: nobody knows when the device came in. It is left with the
 * fix that completes `leaveFixes` fixes in a row beyond the margin, or `leaveMs` since the first of them. Where the
 * geofence is now is what counts, wherever it was when the device came in. One that is deleted is forgotten.
 *
 * @param before null: the device had no valid fix yet
 */
export function decideGeofences(
  before: DeviceGeofences | null,
  fix: GeofenceFix,
  view: GeofenceView,
  settings: GeofenceSettings,
): GeofenceDecision {
  const at = timeOf(view, before);
  const visits = before === null ? NO_VISITS : before.visits;
  const near = view.fleet === undefined ? NO_VERSIONS : view.fleet.near(fix.latitude, fix.longitude, at);
  if (visits.length === 0 && near.length === 0) return unchanged(at, visits);
  let kept: readonly GeofenceVisit[] = visits;
  let left: LeftGeofence[] | null = null;
  for (const visit of visits) {
    const version = versionOf(near, visit.geofenceId) ?? view.fleet?.get(visit.geofenceId, at);
    if (version === undefined || isNew(version, before)) {
      kept = without(kept, visit);
      continue;
    }
    const next = nextVisit(visit, version, fix, settings);
    if (next === visit) continue;
    kept = without(kept, visit);
    if (next === null) (left ??= []).push({ geofence: version, enteredAt: visit.enteredAt });
    else kept = withVisit(kept, next);
  }
  let entered: NamedGeofence[] | null = null;
  for (const version of near) {
    const { geofenceId } = version;
    if (holds(kept, geofenceId) || !version.shape.contains(fix.latitude, fix.longitude)) continue;
    const silent = isNew(version, before);
    const enteredAt = silent ? null : fix.eventTime;
    kept = withVisit(kept, { geofenceId, enteredAt, leavingSince: null, leavingFixes: 0 });
    if (!silent) (entered ??= []).push(version);
  }
  if (kept === visits) return unchanged(at, visits);
  // The visits are in this order; the index has one of its own.
  entered?.sort(byId);
  return { seenAt: at, visits: kept, left: left ?? NO_LEFT, entered: entered ?? NO_ENTERED };
}

/** The clock of another broker may be behind: what the device has seen is not unseen by that (decision 0028). */
function timeOf({ at }: GeofenceView, before: DeviceGeofences | null): number {
  return before !== null && before.seenAt > at ? before.seenAt : at;
}

function unchanged(seenAt: number, visits: readonly GeofenceVisit[]): GeofenceDecision {
  return { seenAt, visits, left: NO_LEFT, entered: NO_ENTERED };
}

/** Saves a look-up for a device that stays where it is. */
function versionOf(near: readonly GeofenceVersion[], geofenceId: string): GeofenceVersion | undefined {
  for (const version of near) if (version.geofenceId === geofenceId) return version;
  return undefined;
}

function holds(visits: readonly GeofenceVisit[], geofenceId: string): boolean {
  for (const visit of visits) if (visit.geofenceId === geofenceId) return true;
  return false;
}

function without(visits: readonly GeofenceVisit[], left: GeofenceVisit): readonly GeofenceVisit[] {
  return visits.filter((visit) => visit !== left);
}

/** In the order of the ids: what is remembered depends on nothing but the pings and the geofences. */
function withVisit(visits: readonly GeofenceVisit[], visit: GeofenceVisit): readonly GeofenceVisit[] {
  return [...visits, visit].sort(byId);
}

/** The device's last fix did not see it; or not this one, but one of the same id that is deleted since. */
function isNew({ since }: GeofenceVersion, before: DeviceGeofences | null): boolean {
  return before === null || since > before.seenAt;
}

/** null: the device has left. */
function nextVisit(
  visit: GeofenceVisit,
  { shape }: GeofenceVersion,
  { latitude, longitude, eventTime }: GeofenceFix,
  { marginInMeters, marginShare, leaveFixes, leaveMs }: GeofenceSettings,
): GeofenceVisit | null {
  if (!shape.isBeyond(latitude, longitude, Math.max(marginInMeters, marginShare * shape.radiusInMeters))) {
    return visit.leavingSince === null ? visit : { ...visit, leavingSince: null, leavingFixes: 0 };
  }
  const leavingSince = visit.leavingSince ?? eventTime;
  const leavingFixes = visit.leavingFixes + 1;
  if (leavingFixes >= leaveFixes || eventTime - leavingSince >= leaveMs) return null;
  return { ...visit, leavingSince, leavingFixes };
}

function byId(a: { readonly geofenceId: string }, b: { readonly geofenceId: string }): number {
  return a.geofenceId < b.geofenceId ? -1 : 1;
}

/**
 * The events of a decision, geofence_out before geofence_in.
 *
 * @param draft gives a new one with what every event of the ping carries
 */
export function eventsOfGeofences(
  { left, entered }: GeofenceDecision,
  draft: (eventType: EventType) => FleetEventDraft,
): FleetEvent[] {
  const events: FleetEvent[] = [];
  for (const { geofence, enteredAt } of left) {
    const event = named(draft('geofence_out'), geofence);
    event.enteredAt = enteredAt;
    event.durationInSeconds = enteredAt === null ? null : (event.eventTime - enteredAt) / 1000;
    events.push(event);
  }
  for (const geofence of entered) events.push(named(draft('geofence_in'), geofence));
  return events;
}

function named(event: FleetEventDraft, { geofenceId, name }: NamedGeofence): FleetEventDraft {
  event.resourceId = geofenceId;
  event.geofenceId = geofenceId;
  event.geofenceName = name;
  return event;
}

/** The thresholds of R-8. A device is out when it is beyond the edge by the greater of the two margins. */
export interface GeofenceSettings {
  readonly marginInMeters: number;
  /** Of the radius, or of that of a circle of the same area. */
  readonly marginShare: number;
  /** So many valid fixes in a row beyond the margin, */
  readonly leaveFixes: number;
  /** or so long since the first of them, in event time. */
  readonly leaveMs: number;
}

export const DEFAULT_GEOFENCE_SETTINGS: GeofenceSettings = Object.freeze({
  marginInMeters: 20,
  marginShare: 0.1,
  leaveFixes: 2,
  leaveMs: 30_000,
});
