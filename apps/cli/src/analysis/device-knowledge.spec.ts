import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  createFleetSettingsHistory,
  createGeofenceHistory,
  type FleetEvent,
  type FleetSettingsHistory,
  geofenceKey,
  type RuleSet,
  type TelemetryPing,
} from '@waypost/domain';
import { NOON, pingOf } from '../../../../test/support/samples.js';
import { createDeviceKnowledge } from './device-knowledge.js';
import { createRuleRun, currentRules, type RecordedPing } from './rule-run.js';

const MINUTE_MS = 60_000;
const LATITUDE = 52;
/** Degrees of latitude of one meter. */
const METER = 1 / 111_195;

const depot = {
  fleetId: 'fleet-1',
  geofenceId: 'depot',
  name: 'Depot',
  version: 1,
  createdAt: 0,
  updatedAt: 0,
  polygon: null,
  circle: { latitude: LATITUDE, longitude: 4.9, radiusInMeters: 300 },
};
const geofences = createGeofenceHistory();
geofences.record(geofenceKey(depot), depot, 1);

function recorded(fields: Partial<TelemetryPing>): RecordedPing {
  const ping = pingOf(fields);
  return { partition: 0, appendedAt: ping.receivedTime, key: ping.deviceId, ping };
}

/** A run from the first of these pings on, and from when on its device is known if those before it are gone. */
function runOver(
  pings: readonly RecordedPing[],
  { cut = [0], ...more }: { rules?: RuleSet; fleetSettings?: FleetSettingsHistory; cut?: number[] } = {},
) {
  const options = currentRules(geofences, more);
  const run = createRuleRun(options);
  const knowledge = createDeviceKnowledge({ ...options, cut: new Set(cut), geofenceIds: () => ['depot'] });
  const events: FleetEvent[] = [];
  for (const one of pings) {
    const step = run.take(one);
    knowledge.observe(one, step);
    events.push(...step.events);
  }
  return { events, knownSince: knowledge.knownSince(0, { fleetId: 'fleet-1', deviceId: 'device-1' }) };
}

/** A ping a minute: standing with the ignition on, driving off 500 m a minute, standing at the end of it, ignition off. */
function day(from: number): RecordedPing[] {
  const speeds = [0, 0, 0, 0, 0, 0, 0, 30, 30, 30, 30, 30, 0, 0, 0, 0, 0];
  let meters = 0;
  return speeds.map((speedInKmh, index) => {
    meters += speedInKmh === 0 ? 0 : 500;
    const isParked = index === 0 || index >= 13;
    const latitude = LATITUDE + meters * METER;
    return recorded({ eventTime: from + index * MINUTE_MS, latitude, speedInKmh, ignition: !isParked });
  });
}

function routesSwitchedAt(minutes: readonly number[]): FleetSettingsHistory {
  const history = createFleetSettingsHistory();
  const fleet = { fleetId: 'fleet-1', name: null, payloadFormat: 'v1', createdAt: 0, updatedAt: 0 };
  [0, ...minutes.toSorted((a, b) => a - b)].forEach((minute, index) => {
    const settings = { ...fleet, routes: index % 2 === 0, version: index + 1 };
    history.record('fleet-1', settings, NOON + minute * MINUTE_MS);
  });
  return history;
}

describe('A device whose first pings were deleted', () => {
  it('is known when it has driven, stopped and changed its ignition since', () => {
    const pings = day(NOON);
    // The ignition goes off with ping 13; the ping after it ends the route, and the position was sent with the change.
    expect(runOver(pings).knownSince).toBe(pings[14]?.ping.eventTime);
  });

  it('is unknown while the device stands still: its stop began before the first kept ping', () => {
    expect(runOver(day(NOON).slice(0, 7)).knownSince).toBe(Infinity);
  });

  it('is not known while nothing says how its ignition was', () => {
    const silent = day(NOON).map(({ ping }) => recorded({ ...ping, ignition: null }));
    expect(
      runOver([...silent, ...silent.map(({ ping }) => recorded({ ...ping, eventTime: ping.eventTime + 86_400_000 }))])
        .knownSince,
    ).toBe(Infinity);
  });

  it('is not known while it is in a geofence that it may have entered before', () => {
    const within = day(NOON).map(({ ping }) => recorded({ ...ping, latitude: LATITUDE + 10 * METER }));
    expect(runOver(within).knownSince).toBe(Infinity);
  });

  it('is known by an ignition change with a fix when only positions are decided', () => {
    // Over 5 min, for the order of the pings; the ignition is known by then, and goes off with ping 13.
    expect(runOver(day(NOON), { rules: 'positions' }).knownSince).toBe(NOON + 13 * MINUTE_MS);
  });

  it('need not have finished a drive while its fleet has no routes: nothing of them was remembered', () => {
    // The order is known over 5 min after the first ping; the depot is left with ping 8, the position sent with ping 10.
    const off = { latitude: LATITUDE + 1_500 * METER, speedInKmh: 0, ignition: false };
    const pings = [...day(NOON).slice(0, 10), recorded({ eventTime: NOON + 10 * MINUTE_MS, ...off })];
    expect(runOver(pings).knownSince).toBe(Infinity);
    // None at all, or none from ping 7 on, the first after the order is known.
    for (const fleetSettings of [createFleetSettingsHistory(), routesSwitchedAt([7])]) {
      expect(runOver(pings, { fleetSettings }).knownSince).toBe(NOON + 10 * MINUTE_MS);
    }
  });

  it('is known from the beginning where no ping is gone', () => {
    expect(runOver(day(NOON), { cut: [] }).knownSince).toBe(-Infinity);
    expect(runOver([], { cut: [1] }).knownSince).toBe(-Infinity);
    expect(runOver([], { cut: [0] }).knownSince).toBe(Infinity);
  });

  it('has the events of the whole log from then on, wherever that was cut', () => {
    const step = fc.record({
      stepMs: fc.constantFrom(10_000, 30_000, MINUTE_MS, 4 * MINUTE_MS, 90 * MINUTE_MS),
      repeated: fc.integer({ min: 1, max: 8 }),
      meters: fc.constantFrom(0, 0, 100, 400, -400, 2_000),
      speedInKmh: fc.constantFrom(0, 0, 2, 30, 30),
      ignition: fc.constantFrom(true, true, false, null),
      positionValid: fc.constantFrom(true, true, true, false),
    });
    const journey = fc.array(step, { minLength: 5, maxLength: 60, size: 'max' });
    const share = fc.double({ min: 0, max: 0.6, noNaN: true });
    // Minutes after noon at which routes are switched off and on by turns; none: they are wanted all the time.
    const switches = fc.array(fc.integer({ min: 1, max: 400 }), { maxLength: 4 });
    let known = 0;
    fc.assert(
      fc.property(journey, share, switches, (steps, cutAt, minutes) => {
        const fleetSettings = routesSwitchedAt(minutes);
        let [eventTime, meters] = [NOON, 0];
        const pings = steps.flatMap(({ stepMs, repeated, meters: way, ...fields }) =>
          Array.from({ length: repeated }, () => {
            eventTime += stepMs;
            meters += way;
            return recorded({ ...fields, eventTime, latitude: LATITUDE + meters * METER });
          }),
        );
        const whole = runOver(pings, { cut: [], fleetSettings });
        const rest = runOver(pings.slice(Math.floor(pings.length * cutAt)), { fleetSettings });
        const judged = ({ eventTime: at }: FleetEvent): boolean => at > rest.knownSince;
        known += Number(rest.knownSince < Infinity);
        expect(rest.events.filter(judged)).toEqual(whole.events.filter(judged));
      }),
      { numRuns: 100 },
    );
    expect(known).toBeGreaterThan(5);
  });
});
