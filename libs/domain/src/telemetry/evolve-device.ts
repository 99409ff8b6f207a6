import type { AcceptedPing } from './decide-ping.js';
import type { DeviceState } from './device-state.js';
import type { TelemetryPing } from './telemetry-ping.js';

/**
 * What is remembered of the device after an accepted ping. Other decisions change nothing, so there is nothing to evolve.
 *
 * @param state the one that `decision` was made from
 */
export function evolveDevice(state: DeviceState | null, ping: TelemetryPing, decision: AcceptedPing): DeviceState {
  const sent = decision.position === 'sent';
  const fixed = decision.position !== 'invalid_fix';
  return {
    newestEventTime: ping.eventTime,
    ignition: decision.ignition,
    lastSentTime: sent ? ping.eventTime : (state?.lastSentTime ?? null),
    armed: !sent && (decision.ignitionChanged || state?.armed === true),
    fixTime: fixed ? ping.eventTime : (state?.fixTime ?? null),
    latitude: fixed ? ping.latitude : (state?.latitude ?? null),
    longitude: fixed ? ping.longitude : (state?.longitude ?? null),
    geofences: decision.geofences,
    trip: decision.trip,
  };
}
