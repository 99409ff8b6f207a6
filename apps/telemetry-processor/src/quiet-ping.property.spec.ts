import { describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import {
  createGeofenceHistory,
  decidePing,
  DEFAULT_RULE_SETTINGS,
  evolveDevice,
  geofenceKey,
  type DeviceState,
  type FleetGeofences,
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

  /** As the store takes it from the changelog. */
  restore(state: DeviceState): void {
    this.put(state);
    deviceStateLayout.forget?.(this.view, 0);
  }

  put(state: DeviceState): void {
    deviceStateLayout.write(this.view, 0, state);
    this.visits = deviceStateLayout.overflow?.of(state);
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
  | { readonly type: 'gone'; readonly id: string }
  /** The fleet wants routes, or wants them no more. */
  | { readonly type: 'settings' }
  /** The partition comes back with what its changelog says. */
  | { readonly type: 'restore' };

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
      fc.oneof(
        { weight: 28, arbitrary: pings },
        { weight: 2, arbitrary: fences },
        { weight: 2, arbitrary: gone },
        { weight: 1, arbitrary: fc.constantFrom<Step>({ type: 'settings' }, { type: 'restore' }) },
      ),
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
  private steps = 0;
  private at = { second: 0, ...START };

  constructor(private settings: RuleSettings) {}

  get fleet(): FleetGeofences | undefined {
    return this.history.fleet(FLEET);
  }

  take(step: Step): void {
    // Now and then the clock of another broker is behind.
    this.appendedAt += (this.steps += 1) % 7 === 0 ? -8 : 5;
    switch (step.type) {
      case 'ping':
        this.takePing(step);
        return;
      case 'fence':
        this.record(step.id, circleOf(step.id, step.north, step.radius, (this.version += 1)));
        return;
      case 'gone':
        this.record(step.id, null);
        return;
      case 'settings':
        this.settings = this.settings.routes === null ? DEFAULT_RULE_SETTINGS : WITHOUT_ROUTES;
        return;
      case 'restore':
        if (this.pure !== null) this.row.restore(plainState(this.pure));
    }
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
      view: { fleet: this.fleet, at: this.appendedAt },
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

const drivenTo = (north: number): Step => ({
  ...{ type: 'ping', seconds: 10, north, east: 0, delayMs: 300, isLost: false },
  more: { speedInKmh: 50, ignition: null },
});

/** With a circle at the start, a vehicle goes north and south along its middle, to so many metres from there. */
const drive = (radius: number, metersNorth: readonly number[]): World => {
  const world = new World(WITHOUT_ROUTES);
  world.take({ type: 'fence', id: 'a', north: 0, radius });
  metersNorth.forEach((meters, index) => {
    world.take(drivenTo(meters - (metersNorth[index - 1] ?? 0)));
  });
  return world;
};

/** A device as it is stored after a ping of which only the rules for positions were asked. */
const storedWithoutGeofences = (): StoredDeviceState => {
  const decision = decidePing(null, pingOf(), WITHOUT_ROUTES, null);
  if (decision.type !== 'accepted') throw new Error(decision.type);
  const row = new Row();
  row.put(evolveDevice(null, pingOf(), decision));
  const stored = row.read();
  if (!(stored instanceof StoredDeviceState)) throw new Error('It is no view.');
  return stored;
};

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

  it.each([
    ['comes back into a geofence whose calm area it has left', [0, 0, 500, 500, 0, 0, 0]],
    ['leaves one that it has come into from a calm area', [500, 500, 150, 500, 500, 500]],
  ])('is not found by an area that was for other visits: a vehicle that %s', (_what, metersNorth) => {
    expect(drive(200, metersNorth).quiet).toBeGreaterThan(0);
  });

  it('is found without a look at the geofences as long as it is in the calm area, and the process knows that', () => {
    const world = drive(200, [5_000, 5_010, 5_020]);
    const { fleet, quiet } = world;
    if (fleet === undefined) throw new Error('The fleet has no geofences.');
    const look = jest.spyOn(fleet, 'calmArea');
    for (const north of [10, 10, 10, -20]) world.take(drivenTo(north));
    expect(world.quiet - quiet).toBe(4);
    expect(look).not.toHaveBeenCalled();
    world.take({ type: 'restore' });
    world.take(drivenTo(10));
    expect(look).toHaveBeenCalledTimes(1);
  });

  it.each([
    ['of a device whose geofences were not looked at before', { fleet: undefined, at: NOON }],
    ['where nobody asked for geofences to be looked at', null],
  ])('is none %s', (_which, view) => {
    const next = pingOf({ eventTime: NOON + 10_000 });
    expect(quietMoveOf(storedWithoutGeofences(), next, { settings: WITHOUT_ROUTES, view })).toBeNull();
  });
});
