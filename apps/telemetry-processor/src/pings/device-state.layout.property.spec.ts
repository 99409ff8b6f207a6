import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  createGeofenceHistory,
  decidePing,
  DEFAULT_RULE_SETTINGS,
  type DeviceState,
  evolveDevice,
  type Geofence,
  type GeofenceHistory,
  geofenceKey,
  type GeofenceView,
  type GeofenceVisit,
  isAccepted,
  type PingDecision,
  type RuleSettings,
  type TelemetryPing,
} from '@waypost/domain';
import { NOON, pingOf } from '../../../../test/support/samples.js';
import { deviceStateLayout, type StoredDeviceState } from './device-state.layout.js';
import { plainState, plainTrip } from './testing/plain-state.js';

const FLEET = 'fleet-1';
const START = { latitude: 52.1, longitude: 4.9 };
const DEGREES_PER_METER = 1 / 111_195;
const WITHOUT_ROUTES: RuleSettings = { ...DEFAULT_RULE_SETTINGS, routes: null };

/** One device as the store keeps it: its bytes, and its visits beside them. */
class Row {
  private readonly view = new DataView(new ArrayBuffer(deviceStateLayout.byteLength));
  private visits: readonly GeofenceVisit[] | undefined = undefined;
  private isThere = false;

  read(): StoredDeviceState | null {
    return this.isThere ? deviceStateLayout.read(this.view, 0, this.visits) : null;
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
  /** The fleet turns routes on or off. */
  | { readonly type: 'settings' };

/** Mostly what a vehicle on the road sends every ten seconds; the rules are about what is rare. */
function rarely<T>(often: T, ...others: readonly T[]): fc.Arbitrary<T> {
  return fc.oneof({ weight: 12, arbitrary: fc.constant(often) }, { weight: 1, arbitrary: fc.constantFrom(...others) });
}
const pings: fc.Arbitrary<Step> = fc.record({
  type: fc.constant('ping' as const),
  seconds: rarely(10, -10, 0, 1, 60, 181, 301, 3_601),
  north: fc.constantFrom(0, 0, 3, 40, 40, 140, -140, 290, 9_000),
  east: rarely(0, 25, -70, 400),
  more: fc.record({
    speedInKmh: fc.constantFrom(null, 0, 0, 2.9, 3, 4.9, 5, 50, 50, 50, 250.5, NaN, -1),
    ignition: rarely<boolean | null>(null, true, false),
  }),
  delayMs: rarely(300, -300_001, -300_000, 15 * 86_400_000, 15 * 86_400_000 + 1),
  isLost: rarely(false, true),
});
const ids = fc.constantFrom('a', 'b', 'c');
const fences: fc.Arbitrary<Step> = fc.record({
  type: fc.constant('fence' as const),
  id: ids,
  north: fc.integer({ min: -5, max: 30 }).map((tens) => tens * 20),
  radius: fc.constantFrom(10, 35, 120, 600),
});
const gone: fc.Arbitrary<Step> = fc.record({ type: fc.constant('gone' as const), id: ids });
/** Standing and driving, for long enough to start and finish routes. */
const steps = fc
  .array(
    fc.tuple(
      fc.oneof(
        { weight: 28, arbitrary: pings },
        { weight: 2, arbitrary: fences },
        { weight: 2, arbitrary: gone },
        { weight: 1, arbitrary: fc.constant<Step>({ type: 'settings' }) },
      ),
      fc.constantFrom(1, 1, 1, 2, 8),
    ),
    { minLength: 20, maxLength: 60 },
  )
  .map((runs) => runs.flatMap(([step, times]) => Array.from({ length: step.type === 'ping' ? times : 1 }, () => step)));

function circleOf(id: string, north: number, radiusInMeters: number, version: number): Geofence {
  return {
    geofenceId: id,
    fleetId: FLEET,
    name: id.toUpperCase(),
    polygon: null,
    circle: { latitude: START.latitude + north * DEGREES_PER_METER, longitude: START.longitude, radiusInMeters },
    version,
    createdAt: 0,
    updatedAt: 0,
  };
}

/** A decision without views of the store, which are valid until its next change only. */
function plainDecision(decision: PingDecision): PingDecision {
  return decision.type === 'accepted' ? { ...decision, trip: decision.trip && plainTrip(decision.trip) } : decision;
}

/** The same pings for a device whose state is a plain object, and for one whose state is stored. */
class TwoDevices {
  moved = 0;
  private readonly history: GeofenceHistory = createGeofenceHistory();
  private readonly row = new Row();
  private plain: DeviceState | null = null;
  /** Later than any ping of a journey. */
  private appendedAt = NOON + 60 * 86_400_000;
  private version = 0;
  private steps = 0;
  private at = { second: 0, ...START };

  constructor(private settings: RuleSettings) {}

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
    this.compare(ping, { fleet: this.history.fleet(FLEET) });
  }

  private compare(ping: TelemetryPing, view: GeofenceView): void {
    const stored = this.row.read();
    const decision = decidePing(this.plain, ping, this.appendedAt, this.settings, view);
    const fromRow = decidePing(stored, ping, this.appendedAt, this.settings, view);
    expect(plainDecision(fromRow)).toEqual(decision);
    if (!isAccepted(decision) || !isAccepted(fromRow)) return;
    this.plain = evolveDevice(this.plain, ping, decision);
    if (fromRow.type === 'moved') {
      this.moved++;
      stored?.move(fromRow);
    } else {
      this.row.put(evolveDevice(stored, ping, fromRow));
    }
    const after = this.row.read();
    expect(after && plainState(after)).toEqual(this.plain);
  }
}

describe('a stored device state', () => {
  it.each([
    ['with routes', DEFAULT_RULE_SETTINGS],
    ['without routes', WITHOUT_ROUTES],
  ])('gives every decision and every next state that a plain object gives, %s', (_what, settings) => {
    let moved = 0;
    let taken = 0;
    fc.assert(
      fc.property(steps, (journey) => {
        const devices = new TwoDevices(settings);
        for (const step of journey) devices.take(step);
        moved += devices.moved;
        taken += journey.length;
      }),
      { numRuns: 100 },
    );
    expect(moved / taken).toBeGreaterThan(0.3);
  });
});
