import { isDeepStrictEqual } from 'node:util';
import {
  decidePing,
  type DeviceState,
  evolveDevice,
  type FleetEvent,
  type GeofenceVisit,
  isAccepted,
  type RouteSettings,
  type TelemetryPing,
} from '@waypost/domain';
import { deviceOf, type RecordedPing, type RuleRunOptions, type RunStep, settingsOf, viewOf } from './rule-run.js';

/**
 * From when on the state of each device is certain although the oldest pings are gone (docs/analysts.md). A run over the
 * rest begins with no state at all where the processor had one; it is right from the ping on with which that no longer
 * matters.
 */
export interface DeviceKnowledge {
  /** The next ping of a run that starts at the first kept ping, with the run's outcome. */
  observe(recorded: RecordedPing, step: RunStep): void;
  /**
   * Epoch milliseconds: events of the device that are later than this follow from the pings that are kept. Infinity: none
   * does; -Infinity: all do, since its partition is whole.
   */
  knownSince(partition: number, device: Pick<FleetEvent, 'fleetId' | 'deviceId'>): number;
}

export interface DeviceKnowledgeOptions extends RuleRunOptions {
  /** Partitions of the pings that no longer begin at their first one. */
  readonly cut: ReadonlySet<number>;
  /** All geofences that the fleet may have had. */
  readonly geofenceIds: (fleetId: string) => readonly string[];
}

type Knowledge =
  /** The processor may have seen a newer ping, up to this event time. */
  | { readonly type: 'order_unknown'; readonly until: number }
  | Guesses
  | { readonly type: 'known'; readonly since: number };

/** States that the processor may have had, as far apart as they can be. */
interface Guesses {
  readonly type: 'guessed';
  states: readonly DeviceState[];
  /** The ping before. */
  before: { readonly eventTime: number; readonly isDriving: boolean };
  /** A ping was seen that sends a position whenever the last one was sent. */
  sent: boolean;
  /** Pings were seen after which it is on a route, wherever it was before, or is without routes. */
  driven: boolean;
}

export function createDeviceKnowledge(options: DeviceKnowledgeOptions): DeviceKnowledge {
  const devices = new Map<string, Knowledge>();
  return {
    observe(recorded, step) {
      const { partition, ping } = recorded;
      if (!options.cut.has(partition)) return;
      const device = deviceOf(partition, ping);
      const known = devices.get(device) ?? orderUnknown(ping, options);
      devices.set(device, step.accepted && step.state !== null ? next(known, recorded, step.state, options) : known);
    },
    knownSince(partition, device) {
      if (!options.cut.has(partition)) return -Infinity;
      const known = devices.get(deviceOf(partition, device));
      return known?.type === 'known' ? known.since : Infinity;
    },
  };
}

/** What came before was received before, and is at most this much ahead of its receipt. */
function orderUnknown({ receivedTime }: TelemetryPing, { settings }: RuleRunOptions): Knowledge {
  return { type: 'order_unknown', until: receivedTime + settings.maxAheadMs };
}

function next(
  known: Knowledge,
  recorded: RecordedPing,
  state: DeviceState,
  options: DeviceKnowledgeOptions,
): Knowledge {
  const { ping } = recorded;
  switch (known.type) {
    case 'known':
      return known;
    case 'order_unknown': {
      const hasFix = state.fixTime === ping.eventTime;
      return hasFix && ping.eventTime > known.until ? guessesAt(recorded, state, options) : known;
    }
    case 'guessed':
      narrow(known, recorded, state, options);
      if (!known.sent || !known.driven || !known.states.every((one) => isDeepStrictEqual(one, state))) return known;
      return { type: 'known', since: ping.eventTime };
  }
}

/** Order and fix are certain after this ping. All else may have been different before it. */
function guessesAt(recorded: RecordedPing, state: DeviceState, options: DeviceKnowledgeOptions): Guesses {
  const { ping } = recorded;
  const { geofences } = state;
  // No visit of the run itself has this entry time.
  const inside = options
    .geofenceIds(ping.fleetId)
    .map((geofenceId) => ({ geofenceId, enteredAt: 0, leavingSince: null, leavingFixes: 0 }));
  const guess = (ignition: boolean, visits: readonly GeofenceVisit[]): DeviceState => ({
    ...state,
    ignition: ping.ignition ?? ignition,
    geofences: geofences && { ...geofences, visits },
  });
  return {
    type: 'guessed',
    states: [guess(true, inside), guess(false, [])],
    before: { eventTime: ping.eventTime, isDriving: false },
    sent: false,
    driven: settingsOf(recorded, options).routes === null,
  };
}

/** The guesses after the next ping; `state` is that of the run. */
function narrow(guesses: Guesses, recorded: RecordedPing, state: DeviceState, options: DeviceKnowledgeOptions): void {
  const { ping, appendedAt } = recorded;
  const view = options.rules === 'all' ? viewOf(ping, options.geofences) : null;
  const applied = settingsOf(recorded, options);
  const decided = guesses.states.flatMap((guess) => {
    const decision = decidePing(guess, ping, appendedAt, applied, view);
    return isAccepted(decision) ? [{ decision, next: evolveDevice(guess, ping, decision) }] : [];
  });
  guesses.states = decided.map(({ next: guess }) => guess);
  const silenceMs = ping.eventTime - guesses.before.eventTime;
  const hasFix = state.fixTime === ping.eventTime;
  // Whatever the ignition was guessed to be: it is known, and changes.
  const changes = decided.every(({ decision }) => decision.type === 'accepted' && decision.ignitionChanged);
  if (hasFix && (changes || silenceMs >= applied.positionWindowMs)) guesses.sent = true;
  const isOn = [state, ...guesses.states].every(({ ignition }) => ignition === true);
  const isDriving = hasFix && isOn && isFast(ping, applied.routes);
  const inARow = isDriving && guesses.before.isDriving && silenceMs < (applied.routes?.gapMs ?? 0);
  if (inARow && !guesses.driven) setDriven(guesses, state);
  // Any earlier trip has been closed by now.
  if (applied.routes === null) guesses.driven = true;
  guesses.before = { eventTime: ping.eventTime, isDriving };
}

function isFast({ speedInKmh }: TelemetryPing, routes: RouteSettings | null): boolean {
  return (
    routes !== null &&
    speedInKmh !== null &&
    speedInKmh >= routes.movingSpeedInKmh &&
    speedInKmh <= routes.maxSpeedInKmh
  );
}

/**
 * Two such pings begin a route, or continue one; standing and an ignition that was off are over. What is left open is when
 * the route began, and that stays so until it ends.
 */
function setDriven(guesses: Guesses, { trip }: DeviceState): void {
  guesses.driven = true;
  guesses.states = guesses.states.map((guess, index) => ({ ...guess, trip: trip && { ...trip, since: index } }));
}
