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
const FEW = 8;

/**
 * a geofence is entered without an event if the time of entry is unknown: the device had no fix before, or
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
  const { kept, left } = afterFix(before, fix, { fleet, near, at }, settings);
  const arriving = arrivals(kept, fix, near);
  if (kept === visits && arriving.length === 0) return unchanged(at, visits);
  const entered: NamedGeofence[] = [];
  const all = [...kept];
  for (const version of arriving) {
    const silent = isNew(version, before);
    const enteredAt = silent ? null : fix.eventTime;
    all.push({ geofenceId: version.geofenceId, enteredAt, leavingSince: null, leavingFixes: 0 });
    if (!silent) entered.push(version);
  }
  if (arriving.length > 0 && kept.length > 0) all.sort(byId);
  return { seenAt: at, visits: all, left, entered };
}

interface Surroundings extends GeofenceView {
  readonly near: readonly GeofenceVersion[];
  readonly at: number;
}

/** `kept`: the same list while no visit changes, else a new one in the same order. */
function afterFix(
  before: DeviceGeofences | null,
  fix: GeofenceFix,
  around: Surroundings,
  settings: GeofenceSettings,
): { readonly kept: readonly GeofenceVisit[]; readonly left: readonly LeftGeofence[] } {
  const visits = before === null ? NO_VISITS : before.visits;
  let kept: GeofenceVisit[] | null = null;
  let left: LeftGeofence[] | null = null;
  for (let index = 0; index < visits.length; index++) {
    const visit = visits[index] as GeofenceVisit;
    const version = versionOf(visit.geofenceId, around);
    const isKnown = version !== undefined && !isNew(version, before);
    const next = isKnown ? nextVisit(visit, version, fix, settings) : null;
    if (isKnown && next === null) (left ??= []).push({ geofence: version, enteredAt: visit.enteredAt });
    if (next !== visit) kept ??= visits.slice(0, index);
    if (next !== null) kept?.push(next);
  }
  return { kept: kept ?? visits, left: left ?? NO_LEFT };
}

/** By geofenceId: the index has an order of its own, and may have a version twice. */
function arrivals(
  kept: readonly GeofenceVisit[],
  { latitude, longitude }: GeofenceFix,
  near: readonly GeofenceVersion[],
): readonly GeofenceVersion[] {
  let arriving: GeofenceVersion[] | null = null;
  for (const version of near) {
    if (!holds(kept, version.geofenceId) && version.shape.contains(latitude, longitude))
      (arriving ??= []).push(version);
  }
  if (arriving === null) return NO_VERSIONS;
  if (arriving.length > 1) arriving.sort(byId);
  return arriving.filter(({ geofenceId }, index) => geofenceId !== arriving[index - 1]?.geofenceId);
}

/** seenAt never goes back, even if another broker's clock is behind (decision 0028). */
function timeOf(appendedAt: number, before: DeviceGeofences | null): number {
  return before !== null && before.seenAt > appendedAt ? before.seenAt : appendedAt;
}

function unchanged(seenAt: number, visits: readonly GeofenceVisit[]): GeofenceDecision {
  return { seenAt, visits, left: NO_LEFT, entered: NO_ENTERED };
}

/** One of a few is found sooner by looking at each; of many, only by its id: a fleet may lay all its geofences over each other. */
function versionOf(geofenceId: string, { fleet, near, at }: Surroundings): GeofenceVersion | undefined {
  if (near.length <= FEW) for (const version of near) if (version.geofenceId === geofenceId) return version;
  return fleet?.get(geofenceId, at);
}

/** Visits are by geofenceId. */
function holds(visits: readonly GeofenceVisit[], geofenceId: string): boolean {
  let [from, to] = [0, visits.length];
  while (from < to) {
    const middle = (from + to) >>> 1;
    const found = (visits[middle] as GeofenceVisit).geofenceId;
    if (found === geofenceId) return true;
    if (found < geofenceId) from = middle + 1;
    else to = middle;
  }
  return false;
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
  return a.geofenceId < b.geofenceId ? -1 : a.geofenceId > b.geofenceId ? 1 : 0;
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
