import type { DeviceState } from '../records/device-state.js';
import type { TelemetryPing } from '../records/telemetry-ping.js';
import { tripAfter } from '../route/decide-route.js';
import type { AcceptedPing, MovedPing } from './decide-ping.js';

const UNKNOWN_DEVICE: DeviceState = Object.freeze({
  newestEventTime: -Infinity,
  ignition: null,
  lastSentTime: null,
  armed: false,
  fixTime: null,
  latitude: null,
  longitude: null,
  geofences: null,
  trip: null,
});

export function evolveDevice(
  state: DeviceState | null,
  ping: TelemetryPing,
  decision: MovedPing | AcceptedPing,
): DeviceState {
  const before = state ?? UNKNOWN_DEVICE;
  return decision.type === 'moved' ? afterMove(before, decision) : afterPing(before, ping, decision);
}

// Field by field: a spread costs more than the rules, and would lose the fields of a stored state.
function afterMove(before: DeviceState, { fix, geofencesSeenAt, leg }: MovedPing): DeviceState {
  const { geofences, trip } = before;
  return {
    newestEventTime: fix.eventTime,
    ignition: before.ignition,
    lastSentTime: before.lastSentTime,
    armed: before.armed,
    fixTime: fix.eventTime,
    latitude: fix.latitude,
    longitude: fix.longitude,
    geofences:
      geofences === null || geofencesSeenAt === null ? null : { seenAt: geofencesSeenAt, visits: geofences.visits },
    trip: leg === null ? trip : tripAfter(trip, fix, leg),
  };
}

function afterPing(before: DeviceState, ping: TelemetryPing, decision: AcceptedPing): DeviceState {
  const sent = decision.position === 'sent';
  const fixed = decision.position !== 'invalid_fix';
  return {
    newestEventTime: ping.eventTime,
    ignition: decision.ignition,
    lastSentTime: sent ? ping.eventTime : before.lastSentTime,
    armed: !sent && (decision.ignitionChanged || before.armed),
    fixTime: fixed ? ping.eventTime : before.fixTime,
    latitude: fixed ? ping.latitude : before.latitude,
    longitude: fixed ? ping.longitude : before.longitude,
    geofences: decision.geofences,
    trip: decision.trip,
  };
}
