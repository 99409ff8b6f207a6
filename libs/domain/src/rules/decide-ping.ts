import type { FleetEventDraft } from '../event/draft-event.js';
import type { EventType } from '../event/event-type.js';
import {
  decideGeofences,
  eventsOfGeofences,
  type GeofenceDecision,
  type GeofenceView,
} from '../geofence/decide-geofences.js';
import { eventOfPing } from '../ping/event-of-ping.js';
import { isFuture } from '../ping/future-ping.js';
import { type FixedPing, hasValidFix } from '../ping/valid-fix.js';
import type { DeviceGeofences, DeviceState, Trip } from '../records/device-state.js';
import type { FleetEvent } from '../records/fleet-event.js';
import type { TelemetryPing } from '../records/telemetry-ping.js';
import { decideRoute, NO_TRIP, type RouteDecision, tripAfter } from '../route/decide-route.js';
import { eventOfRoute } from '../route/event-of-route.js';
import type { RouteLeg } from '../route/route-progress.js';
import { formatTime } from '../time/instant.js';
import { decidePosition, type PositionOutcome } from './decide-position.js';
import { DEFAULT_RULE_SETTINGS, type RuleSettings } from './rule-settings.js';

/** The newest ping of its device. Like nine pings in ten, it changes only the place, so it makes no event. */
export interface MovedPing {
  readonly type: 'moved';
  readonly events: readonly [];
  readonly fix: FixedPing;
  /** The new seenAt; null: geofences are not looked at. */
  readonly geofencesSeenAt: number | null;
  /** The new leg; null: the trip stays as it is. */
  readonly leg: RouteLeg | null;
}

/** The newest ping of its device. It changes the state of the device and may make events. */
export interface AcceptedPing {
  readonly type: 'accepted';
  /** events in the order in which they are published. */
  readonly events: readonly FleetEvent[];
  readonly ignition: boolean | null;
  readonly ignitionChanged: boolean;
  readonly position: PositionOutcome;
  readonly geofences: DeviceGeofences | null;
  readonly trip: Trip | null;
}

export type PingDecision =
  | MovedPing
  | AcceptedPing
  /** older than the newest ping: for the paths only. */
  | { readonly type: 'late' }
  /** as old as the newest ping. */
  | { readonly type: 'duplicate' }
  /** far older than its receivedTime: for the paths only. */
  | { readonly type: 'expired' }
  /** for `telemetry.rejected`. */
  | { readonly type: 'rejected'; readonly reason: 'future'; readonly detail: string };

export function isAccepted(decision: PingDecision): decision is MovedPing | AcceptedPing {
  return decision.type === 'moved' || decision.type === 'accepted';
}

const LATE: PingDecision = Object.freeze({ type: 'late' });
const DUPLICATE: PingDecision = Object.freeze({ type: 'duplicate' });
const EXPIRED: PingDecision = Object.freeze({ type: 'expired' });
const NO_EVENTS: readonly [] = Object.freeze([]);

/** Decides from the arguments alone, so a replay decides the same. Without a `view`, geofences are ignored and forgotten. */
export function decidePing(
  state: DeviceState | null,
  ping: TelemetryPing,
  appendedAt: number,
  settings: RuleSettings = DEFAULT_RULE_SETTINGS,
  view: GeofenceView | null = null,
): PingDecision {
  if (isFuture(ping, appendedAt, settings.maxAheadMs)) return rejectFuture(ping, appendedAt, settings);
  if (ping.receivedTime - ping.eventTime > settings.maxAgeMs) return EXPIRED;
  if (state !== null && ping.eventTime <= state.newestEventTime) {
    return ping.eventTime === state.newestEventTime ? DUPLICATE : LATE;
  }
  return decideNewest(state, ping, appendedAt, settings, view);
}

function decideNewest(
  state: DeviceState | null,
  ping: TelemetryPing,
  appendedAt: number,
  settings: RuleSettings,
  view: GeofenceView | null,
): MovedPing | AcceptedPing {
  const fix = hasValidFix(ping) ? ping : null;
  const known = state === null ? null : state.ignition;
  // null carries the last known state forward, and the first known state is not a change.
  const ignition = ping.ignition ?? known;
  const ignitionChanged = known !== null && ignition !== known;
  const position = decidePosition(state, ping, fix, ignitionChanged, settings);
  const before = state === null ? null : state.geofences;
  const looks = fix !== null && view !== null;
  const fences = looks ? decideGeofences(before, fix, view, appendedAt, settings.geofences) : null;
  const route = settings.routes === null ? NO_TRIP : decideRoute(state, ping, fix, ignition, settings.routes);

  const isQuiet = position === 'inside_window' && ignition === known;
  if (isQuiet && state !== null && fix !== null && staysInGeofences(before, fences) && staysOnRoute(route, state)) {
    return movedPing(fix, fences, route);
  }
  return {
    type: 'accepted',
    events: eventsOf(state, ping, { ignition, ignitionChanged, position }, fences, route),
    ignition,
    ignitionChanged,
    position,
    geofences: geofencesAfter(before, fences, view),
    trip: tripAfter(state === null ? null : state.trip, fix, route),
  };
}

function movedPing(fix: FixedPing, fences: GeofenceDecision | null, route: RouteDecision): MovedPing {
  const geofencesSeenAt = fences === null ? null : fences.seenAt;
  return { type: 'moved', events: NO_EVENTS, fix, geofencesSeenAt, leg: route.type === 'traveled' ? route : null };
}

/** True if the ping enters and leaves no geofence; without a look, if there is nothing to forget. */
function staysInGeofences(before: DeviceGeofences | null, fences: GeofenceDecision | null): boolean {
  return fences === null ? before === null : fences.visits === before?.visits;
}

/** True if the ping changes at most the running totals of the route. */
function staysOnRoute(route: RouteDecision, state: DeviceState): boolean {
  return route.type === 'traveled' || route.type === 'unchanged' || (route === NO_TRIP && state.trip === null);
}

/** drops unfollowed visits, which could be mistaken for current ones later: the next look starts silently. */
function geofencesAfter(
  before: DeviceGeofences | null,
  fences: GeofenceDecision | null,
  view: GeofenceView | null,
): DeviceGeofences | null {
  if (fences !== null) return { seenAt: fences.seenAt, visits: fences.visits };
  return view === null ? null : before;
}

/** puts the events in order. */
function eventsOf(
  state: DeviceState | null,
  ping: TelemetryPing,
  { ignition, ignitionChanged, position }: Pick<AcceptedPing, 'ignition' | 'ignitionChanged' | 'position'>,
  fences: GeofenceDecision | null,
  route: RouteDecision,
): readonly FleetEvent[] {
  const events: FleetEvent[] = [];
  const draft = (eventType: EventType): FleetEventDraft => eventOfPing(eventType, ping, ignition, state);
  if (ignitionChanged) events.push(draft(ignition === true ? 'ignition_on' : 'ignition_off'));
  if (fences !== null) events.push(...eventsOfGeofences(fences, draft));
  if (route.type === 'changed') for (const change of route.changes) events.push(eventOfRoute(change, ping));
  if (position === 'sent') events.push(draft(ignition === false ? 'position_sleep' : 'position'));
  return events;
}

/** Names the earlier of the two times, which the ping is ahead of in any case. */
function rejectFuture(
  { eventTime, receivedTime }: TelemetryPing,
  appendedAt: number,
  { maxAheadMs }: RuleSettings,
): PingDecision {
  const limit =
    receivedTime <= appendedAt ? `receivedTime ${formatTime(receivedTime)}` : `its append at ${formatTime(appendedAt)}`;
  return {
    type: 'rejected',
    reason: 'future',
    detail: `eventTime ${formatTime(eventTime)} is more than ${String(maxAheadMs)} ms after ${limit}`,
  };
}
