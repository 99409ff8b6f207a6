import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  createGeofenceHistory,
  decidePing,
  DEFAULT_RULE_SETTINGS,
  evolveDevice,
  geofenceKey,
  type DeviceState,
  type Geofence,
  type GeofenceHistory,
  type GeofenceVisit,
  type RuleSettings,
  type TelemetryPing,
} from '@waypost/domain';
import { NOON, pingOf } from '../../../test/support/samples.js';
import type { AppliedRules } from './applied-rules.js';
import { deviceStateLayout } from './device-state.layout.js';
import { quietMoveOf } from './quiet-ping.js';
import { StoredDeviceState } from './stored-device-state.js';
import { plainState } from './testing/plain-state.js';

const FLEET = 'fleet-1';
const START = { latitude: 52.1, longitude: 4.9 };
const DEGREES_PER_METER = 1 / 111_195;
const WITHOUT_ROUTES: RuleSettings = { ...DEFAULT_RULE_SETTINGS, routes: null };

/** One device as the store keeps it: the bytes, and beside them the visits. */
class Row {
  private readonly view = new DataView(new ArrayBuffer(deviceStateLayout.byteLength));
  private visits: readonly GeofenceVisit[] | undefined = undefined;
  private isThere = false;

  constructor() {
    deviceStateLayout.forget?.(this.view, 0);
  }

  read(): DeviceState | null {
    return this.isThere ? deviceStateLayout.read(this.view, 0, this.visits) : null;
  }

  put(state: DeviceState): void {
    deviceStateLayout.write(this.view, 0, state);
    this.visits = deviceStateLayout.rest?.of(state);
    this.isThere = true;
  }
}

type Step =
  | {
      readonly type: 'ping';
      readonly seconds: number;
      readonly north: number;
      readonly east: number;
      readonly more: Partial<TelemetryPing>;
      readonly delayMs: number;
      readonly isLost: boolean;
    }
  | { readonly type: 'fence'; readonly id: string; readonly north: number; readonly radius: number }
  | { readonly type: 'gone'; readonly id: string };

/** Mostly what a vehicle on the road sends every ten seconds; what happens seldom is what the rules are about. */
const seldom = <T>(often: T, ...others: readonly T[]): fc.Arbitrary<T> =>
  fc.oneof({ weight: 12, arbitrary: fc.constant(often) }, { weight: 1, arbitrary: fc.constantFrom(...others) });
const pings: fc.Arbitrary<Step> = fc.record({
  type: fc.constant('ping' as const),
  seconds: seldom(10, -10, 0, 1, 60, 181, 301, 3_601),
  north: fc.constantFrom(0, 0, 3, 40, 40, 140, -140, 290, 9_000),
  east: seldom(0, 25, -70, 400),
  more: fc.record({
    speedInKmh: fc.constantFrom(null, 0, 0, 2.9, 3, 4.9, 5, 50, 50, 50, 250.5, NaN, -1),
    ignition: seldom<boolean | null>(null, true, false),
  }),
  delayMs: seldom(300, -300_001, -300_000, 15 * 86_400_000, 15 * 86_400_000 + 1),
  isLost: seldom(false, true),
});
const ids = fc.constantFrom('a', 'b', 'c');
const fences: fc.Arbitrary<Step> = fc.record({
  type: fc.constant('fence' as const),
  id: ids,
  north: fc.integer({ min: -5, max: 30 }).map((tens) => tens * 20),
  radius: fc.constantFrom(10, 35, 120, 600),
});
const gone: fc.Arbitrary<Step> = fc.record({ type: fc.constant('gone' as const), id: ids });
/** Standing, driving, and what comes between, for long enough to begin and to end routes. */
const steps = fc
  .array(
    fc.tuple(
      fc.oneof({ weight: 14, arbitrary: pings }, { weight: 1, arbitrary: fences }, { weight: 1, arbitrary: gone }),
      fc.constantFrom(1, 1, 1, 2, 8),
    ),
    { minLength: 20, maxLength: 60 },
  )
  .map((runs) => runs.flatMap(([step, times]) => Array.from({ length: step.type === 'ping' ? times : 1 }, () => step)));

const circleOf = (id: string, north: number, radiusInMeters: number, version: number): Geofence => ({
  ...{ geofenceId: id, fleetId: FLEET, name: id.toUpperCase(), polygon: null },
  circle: { latitude: START.latitude + north * DEGREES_PER_METER, longitude: START.longitude, radiusInMeters },
  ...{ version, createdAt: 0, updatedAt: 0 },
});

class World {
  quiet = 0;
  private readonly history: GeofenceHistory = createGeofenceHistory();
  private readonly row = new Row();
  private pure: DeviceState | null = null;
  private appendedAt = NOON;
  private version = 0;
  private at = { second: 0, ...START };

  constructor(private readonly settings: RuleSettings) {}

  take(step: Step): void {
    this.appendedAt += 5;
    if (step.type === 'ping') this.takePing(step);
    else if (step.type === 'fence')
      this.record(step.id, circleOf(step.id, step.north, step.radius, (this.version += 1)));
    else this.record(step.id, null);
  }

  private record(geofenceId: string, geofence: Geofence | null): void {
    this.history.record(geofenceKey({ fleetId: FLEET, geofenceId }), geofence, this.appendedAt);
  }

  private takePing({ seconds, north, east, more, delayMs, isLost }: Extract<Step, { type: 'ping' }>): void {
    const { second, latitude, longitude } = this.at;
    const to = { latitude: latitude + north * DEGREES_PER_METER, longitude: longitude + east * DEGREES_PER_METER };
    this.at = { second: second + seconds, ...(isLost ? { latitude, longitude } : to) };
    const eventTime = NOON + this.at.second * 1_000;
    const ping = pingOf({ ...to, ...more, eventTime, receivedTime: eventTime + delayMs, positionValid: !isLost });
    const applied = {
      settings: this.settings,
      view: { fleet: this.history.fleet(FLEET), at: this.appendedAt },
    };
    this.compare(ping, applied);
  }

  /** By the rules alone, and as the processor does it. */
  private compare(ping: TelemetryPing, applied: AppliedRules): void {
    const decision = decidePing(this.pure, ping, applied.settings, applied.view);
    const isQuiet = this.takeQuietly(ping, applied);
    if (decision.type !== 'accepted') {
      expect(isQuiet).toBe(false);
      return;
    }
    if (isQuiet) expect(decision.events).toEqual([]);
    this.pure = evolveDevice(this.pure, ping, decision);
    const stored = this.row.read();
    if (!isQuiet) {
      const own = decidePing(stored, ping, applied.settings, applied.view);
      if (own.type !== 'accepted') throw new Error(own.type);
      expect(own.events).toEqual(decision.events);
      this.row.put(evolveDevice(stored, ping, own));
    }
    const after = this.row.read();
    expect(after && plainState(after)).toEqual(plainState(this.pure));
  }

  private takeQuietly(ping: TelemetryPing, applied: AppliedRules): boolean {
    const stored = this.row.read();
    const move = stored instanceof StoredDeviceState ? quietMoveOf(stored, ping, applied) : null;
    if (!(stored instanceof StoredDeviceState) || move === null) return false;
    this.quiet++;
    this.row.put(stored.movedBy(move));
    return true;
  }
}

describe('a quiet ping', () => {
  it.each([
    ['with routes', DEFAULT_RULE_SETTINGS],
    ['without routes', WITHOUT_ROUTES],
  ])('makes no event by the rules, and leaves the state that they leave, %s', (_what, settings) => {
    let quiet = 0;
    let taken = 0;
    fc.assert(
      fc.property(steps, (journey) => {
        const world = new World(settings);
        for (const step of journey) world.take(step);
        quiet += world.quiet;
        taken += journey.length;
      }),
      { numRuns: 250 },
    );
    expect(quiet / taken).toBeGreaterThan(0.3);
  });

  it('is none where nobody asked for geofences to be looked at', () => {
    const row = new Row();
    const state = decidePing(null, pingOf());
    if (state.type !== 'accepted') throw new Error(state.type);
    row.put(evolveDevice(null, pingOf(), state));
    const stored = row.read();
    if (!(stored instanceof StoredDeviceState)) throw new Error('It is no view.');
    const next = pingOf({ eventTime: NOON + 10_000 });
    expect(quietMoveOf(stored, next, { settings: DEFAULT_RULE_SETTINGS, view: null })).toBeNull();
  });
});
