import type { DeviceState } from '../records/device-state.js';
import type { TelemetryPing } from '../records/telemetry-ping.js';
import { decidePing, isAccepted, type PingDecision } from '../rules/decide-ping.js';
import { evolveDevice } from '../rules/evolve-device.js';
import type { RuleSettings } from '../rules/rule-settings.js';

export interface Journey {
  readonly state: DeviceState | null;
  /** One a ping. */
  readonly decisions: readonly PingDecision[];
}

export interface AppendedPing {
  readonly ping: TelemetryPing;
  readonly appendedAt: number;
}

/** As travelRecorded(); each ping is appended when it is received. */
export function travel(
  pings: readonly TelemetryPing[],
  from: DeviceState | null = null,
  settings?: RuleSettings,
): Journey {
  return travelRecorded(
    pings.map((ping) => ({ ping, appendedAt: ping.receivedTime })),
    from,
    settings,
  );
}

/** Runs the pings of one device through decide and evolve, as the processor does. */
export function travelRecorded(
  recorded: readonly AppendedPing[],
  from: DeviceState | null = null,
  settings?: RuleSettings,
): Journey {
  let state = from;
  const decisions: PingDecision[] = [];
  for (const { ping, appendedAt } of recorded) {
    const decision = decidePing(state, ping, appendedAt, settings);
    if (isAccepted(decision)) state = evolveDevice(state, ping, decision);
    decisions.push(decision);
  }
  return { state, decisions };
}

/** The types of the events of each ping, in order; for a ping that was not accepted, why. */
export function outcomes(journey: Journey): (string[] | string)[] {
  return journey.decisions.map((decision) =>
    isAccepted(decision) ? decision.events.map((event) => event.eventType) : decision.type,
  );
}
