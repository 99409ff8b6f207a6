import type { EventType } from '../event/event-type.js';
import type { FleetEvent } from '../event/fleet-event.js';
import { formatTime } from '../time/instant.js';
import type { DeviceState } from './device-state.js';
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

/**
 * The rules of one ping against what is remembered of its device. Only an accepted ping changes that.
 * Nothing but the arguments counts, so a replay decides the same.
 *
 * @param state null: nothing was accepted of this device yet
 * @param ping one that checkPing calls valid
 */
export function decidePing(
  state: DeviceState | null,
  ping: TelemetryPing,
  settings: RuleSettings = DEFAULT_RULE_SETTINGS,
): PingDecision {
  const aheadMs = ping.eventTime - ping.receivedTime;
  if (aheadMs > settings.maxAheadMs) return rejectFuture(ping, settings);
  if (-aheadMs > settings.maxAgeMs) return EXPIRED;
  if (state !== null && ping.eventTime <= state.newestEventTime) {
    return ping.eventTime === state.newestEventTime ? DUPLICATE : LATE;
  }
  return decideAccepted(state, ping, settings);
}

function decideAccepted(state: DeviceState | null, ping: TelemetryPing, settings: RuleSettings): AcceptedPing {
  const known = state === null ? null : state.ignition;
  const ignition = ping.ignition ?? known;
  const ignitionChanged = known !== null && ignition !== known;
  const position = decidePosition(state, ping, ignitionChanged, settings);
  if (!ignitionChanged && position !== 'sent') {
    return { type: 'accepted', events: NO_EVENTS, ignition, ignitionChanged, position };
  }
  const events: FleetEvent[] = [];
  const emit = (eventType: EventType): number => events.push(eventOfPing(eventType, ping, ignition, state));
  if (ignitionChanged) emit(ignition === true ? 'ignition_on' : 'ignition_off');
  if (position === 'sent') emit(ignition === false ? 'position_sleep' : 'position');
  return { type: 'accepted', events, ignition, ignitionChanged, position };
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
