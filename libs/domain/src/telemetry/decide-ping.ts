import type { EventType } from '../event/event-type.js';
import type { FleetEvent, FleetEventDraft } from '../event/fleet-event.js';
import { decideGeofences, type GeofenceDecision, type GeofenceView } from '../geofence/decide-geofences.js';
import { eventsOfGeofences } from '../geofence/events-of-geofences.js';
import { decideTrip, NO_TRIP, type TripDecision } from '../route/decide-trip.js';
import { eventOfTrip } from '../route/event-of-trip.js';
import { formatTime } from '../time/instant.js';
import type { DeviceGeofences, DeviceState } from './device-state.js';
import { eventOfPing } from './event-of-ping.js';
import { hasValidFix } from './fix.js';
import { DEFAULT_RULE_SETTINGS, type RuleSettings } from './rule-settings.js';
import type { TelemetryPing } from './telemetry-ping.js';

/** The ping moves the device's state on (evolveDevice) and may make events. */
export interface AcceptedPing {
  readonly type: 'accepted';
  /** In the order in which they are published. */
  readonly events: readonly FleetEvent[];
  /** After the ping; null: never known. */
  readonly ignition: boolean | null;
  readonly ignitionChanged: boolean;
  /** What became of its position. */
  readonly position: 'sent' | 'inside_window' | 'invalid_fix';
  /** After the ping. */
  readonly geofences: DeviceGeofences | null;
  /** After the ping. */
  readonly trip: TripDecision['trip'];
}

export type PingDecision =
  | AcceptedPing
  /** Older than the newest processed: paths only. */
  | { readonly type: 'late' }
  /** As old as the newest processed. */
  | { readonly type: 'duplicate' }
  /** Far older than its receivedTime: paths only. */
  | { readonly type: 'expired' }
  /** For `telemetry.rejected`. */
  | { readonly type: 'rejected'; readonly reason: 'future'; readonly detail: string };

const LATE: PingDecision = Object.freeze({ type: 'late' });
const DUPLICATE: PingDecision = Object.freeze({ type: 'duplicate' });
const EXPIRED: PingDecision = Object.freeze({ type: 'expired' });
const NO_EVENTS: readonly FleetEvent[] = Object.freeze([]);

/** Whether a ping that checkPing calls valid is rejected because its time lies ahead of its receipt. */
export const isFuture = (
  { eventTime, receivedTime }: Pick<TelemetryPing, 'eventTime' | 'receivedTime'>,
  settings: RuleSettings = DEFAULT_RULE_SETTINGS,
): boolean => eventTime - receivedTime > settings.maxAheadMs;

/**
 * The rules of one ping against what is remembered of its device. Only an accepted ping changes that.
 * Nothing but the arguments counts, so a replay decides the same.
 *
 * @param state null: nothing was accepted of this device yet
 * @param ping one that checkPing calls valid
 * @param view null: geofences are not looked at, and nothing of them is remembered
 */
export function decidePing(
  state: DeviceState | null,
  ping: TelemetryPing,
  settings: RuleSettings = DEFAULT_RULE_SETTINGS,
  view: GeofenceView | null = null,
): PingDecision {
  if (isFuture(ping, settings)) return rejectFuture(ping, settings);
  if (ping.receivedTime - ping.eventTime > settings.maxAgeMs) return EXPIRED;
  if (state !== null && ping.eventTime <= state.newestEventTime) {
    return ping.eventTime === state.newestEventTime ? DUPLICATE : LATE;
  }
  return decideAccepted(state, ping, settings, view);
}

function decideAccepted(
  state: DeviceState | null,
  ping: TelemetryPing,
  settings: RuleSettings,
  view: GeofenceView | null,
): AcceptedPing {
  const known = state === null ? null : state.ignition;
  const ignition = ping.ignition ?? known;
  const ignitionChanged = known !== null && ignition !== known;
  const position = decidePosition(state, ping, ignitionChanged, settings);
  const fences =
    view !== null && hasValidFix(ping)
      ? decideGeofences(state === null ? null : state.geofences, ping, view, settings.geofences)
      : null;
  // Visits that are not followed would be taken for those of the next look: the first sight is silent instead.
  const geofences = view === null ? null : (fences?.state ?? state?.geofences ?? null);
  const atFences = fences !== null && (fences.left.length > 0 || fences.entered.length > 0);
  const { trip, changes } = settings.routes === null ? NO_TRIP : decideTrip(state, ping, ignition, settings.routes);
  if (!ignitionChanged && position !== 'sent' && !atFences && changes.length === 0) {
    return { type: 'accepted', events: NO_EVENTS, ignition, ignitionChanged, position, geofences, trip };
  }
  const found = { ignition, ignitionChanged, fences: atFences ? fences : null, changes, position };
  const events = eventsOf(state, ping, found);
  return { type: 'accepted', events, ignition, ignitionChanged, position, geofences, trip };
}

interface Found extends Pick<AcceptedPing, 'ignition' | 'ignitionChanged' | 'position'> {
  readonly fences: GeofenceDecision | null;
  readonly changes: TripDecision['changes'];
}

/** In the order of R-10. */
function eventsOf(state: DeviceState | null, ping: TelemetryPing, found: Found): FleetEvent[] {
  const { ignition, ignitionChanged, fences, changes, position } = found;
  const events: FleetEvent[] = [];
  const draft = (eventType: EventType): FleetEventDraft => eventOfPing(eventType, ping, ignition, state);
  if (ignitionChanged) events.push(draft(ignition === true ? 'ignition_on' : 'ignition_off'));
  if (fences !== null) events.push(...eventsOfGeofences(fences, draft));
  for (const change of changes) events.push(eventOfTrip(change, ping));
  if (position === 'sent') events.push(draft(ignition === false ? 'position_sleep' : 'position'));
  return events;
}

function decidePosition(
  state: DeviceState | null,
  ping: TelemetryPing,
  ignitionChanged: boolean,
  settings: RuleSettings,
): AcceptedPing['position'] {
  if (!hasValidFix(ping)) return 'invalid_fix';
  if (ignitionChanged || state === null || state.armed || state.lastSentTime === null) return 'sent';
  return ping.eventTime - state.lastSentTime >= settings.positionWindowMs ? 'sent' : 'inside_window';
}

function rejectFuture(ping: TelemetryPing, settings: RuleSettings): PingDecision {
  const event = `eventTime ${formatTime(ping.eventTime)}`;
  const limit = `more than ${String(settings.maxAheadMs)} ms`;
  return {
    type: 'rejected',
    reason: 'future',
    detail: `${event} is ${limit} after receivedTime ${formatTime(ping.receivedTime)}`,
  };
}
