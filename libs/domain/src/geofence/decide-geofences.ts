import type { FleetEventDraft } from '../event/draft-event.js';
import type { EventType } from '../event/event-type.js';
import type { DeviceGeofences, GeofenceVisit } from '../records/device-state.js';
import type { FleetEvent } from '../records/fleet-event.js';
import type { FleetGeofences } from './geofence-history.js';
import type { GeofenceSettings } from './geofence-settings.js';
import type { GeofenceVersion, NamedGeofence } from './geofence-version.js';

export interface GeofenceView {
  readonly fleet: FleetGeofences | undefined;
}

export interface GeofenceFix {
  readonly eventTime: number;
  readonly latitude: number;
  readonly longitude: number;
}

export interface GeofenceDecision extends DeviceGeofences {
  /** Left geofences in order of geofenceId, which is the order of their events. */
  readonly left: readonly LeftGeofence[];
  readonly entered: readonly NamedGeofence[];
}

export interface LeftGeofence {
  readonly geofence: NamedGeofence;
  readonly enteredAt: number | null;
}

const NO_VISITS: readonly GeofenceVisit[] = Object.freeze([]);
const NO_VERSIONS: readonly GeofenceVersion[] = Object.freeze([]);
const NO_LEFT: readonly LeftGeofence[] = Object.freeze([]);
const NO_ENTERED: readonly NamedGeofence[] = Object.freeze([]);

/**
 * Decides R-8. A geofence is entered without an event if the time of entry is unknown: the device had no fix before, or
 * the geofence is newer than its last fix.
 */
export function decideGeofences(
  before: DeviceGeofences | null,
  fix: GeofenceFix,
  { fleet }: GeofenceView,
  appendedAt: number,
  settings: GeofenceSettings,
): GeofenceDecision {
  const at = timeOf(appendedAt, before);
  const visits = before === null ? NO_VISITS : before.visits;
  const near = fleet === undefined ? NO_VERSIONS : fleet.near(fix.latitude, fix.longitude, at);
  if (visits.length === 0 && near.length === 0) return unchanged(at, visits);
  let kept: readonly GeofenceVisit[] = visits;
  let left: LeftGeofence[] | null = null;
  for (const visit of visits) {
    const version = versionOf(near, visit.geofenceId) ?? fleet?.get(visit.geofenceId, at);
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
  // The index has a different order.
  entered?.sort(byId);
  return { seenAt: at, visits: kept, left: left ?? NO_LEFT, entered: entered ?? NO_ENTERED };
}

/** seenAt never goes back, even if another broker's clock is behind (decision 0028). */
function timeOf(appendedAt: number, before: DeviceGeofences | null): number {
  return before !== null && before.seenAt > appendedAt ? before.seenAt : appendedAt;
}

function unchanged(seenAt: number, visits: readonly GeofenceVisit[]): GeofenceDecision {
  return { seenAt, visits, left: NO_LEFT, entered: NO_ENTERED };
}

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

function withVisit(visits: readonly GeofenceVisit[], visit: GeofenceVisit): readonly GeofenceVisit[] {
  return [...visits, visit].sort(byId);
}

/** The device's last fix did not see this geofence, or saw a deleted one with the same id. */
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

/** geofence_out comes before geofence_in. */
export function eventsOfGeofences(
  { left, entered }: GeofenceDecision,
  draft: (eventType: EventType) => FleetEventDraft,
): FleetEvent[] {
  const events: FleetEvent[] = [];
  for (const { geofence, enteredAt } of left) {
    const event = withGeofence(draft('geofence_out'), geofence);
    event.enteredAt = enteredAt;
    event.durationInSeconds = enteredAt === null ? null : (event.eventTime - enteredAt) / 1000;
    events.push(event);
  }
  for (const geofence of entered) events.push(withGeofence(draft('geofence_in'), geofence));
  return events;
}

function withGeofence(event: FleetEventDraft, { geofenceId, name }: NamedGeofence): FleetEventDraft {
  event.resourceId = geofenceId;
  event.geofenceId = geofenceId;
  event.geofenceName = name;
  return event;
}
