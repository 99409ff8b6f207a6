import { beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { FleetGeofences } from './geofence-history.js';
import { createGeofenceIndex } from './geofence-index.js';
import { type GeofenceVersion, isInForce } from './geofence-version.js';
import { circleFence, placeAt } from './testing/geofences.js';

const DAY = 86_400_000;
const HERE = { latitude: 52, longitude: 5 };

/** How many versions were packed, by each time that it was done. */
let packed: number[];
let fleet: FleetGeofences;
/** The broker's clock. */
let clock: number;
beforeEach(() => {
  packed = [];
  clock = 0;
  fleet = new FleetGeofences((versions) => {
    packed.push(versions.length);
    return createGeofenceIndex(versions);
  });
});

/** One kilometer from the next, to the east. */
function put(number: number, version = 1): void {
  const circle = { ...placeAt(HERE, number * 1_000, 90), radiusInMeters: 100 };
  fleet.put(circleFence(circle, { geofenceId: String(number), version }), ++clock);
}
function remove(number: number): void {
  fleet.remove(String(number), ++clock);
}
function near(number: number, time = clock): string[] {
  const { latitude, longitude } = placeAt(HERE, number * 1_000, 90);
  return fleet.near(latitude, longitude, time).map(({ geofenceId, version }) => `${geofenceId} v${String(version)}`);
}

describe('the index of a fleet with 10,000 geofences', () => {
  beforeEach(() => {
    for (let number = 0; number < 10_000; number++) put(number);
  });

  it('is packed once, at the first ping, however the geofences came', () => {
    expect(packed).toEqual([]);
    expect([near(0), near(9_999), near(20_000)]).toEqual([['0 v1'], ['9999 v1'], []]);
    expect(packed).toEqual([10_000]);
  });

  it('is not rebuilt for one that comes, changes or goes, and the next ping still sees the change', () => {
    near(0);
    put(10_000);
    put(17, 2);
    remove(18);
    expect([near(10_000), near(17), near(18), near(19)]).toEqual([['10000 v1'], ['17 v2'], [], ['19 v1']]);
    expect(packed).toEqual([10_000]);
  });

  it('shows a ping from before the changes what it would have seen then', () => {
    near(0);
    const before = clock;
    put(10_000);
    put(17, 2);
    remove(18);
    put(17, 3);
    expect([near(10_000, before), near(17, before), near(18, before)]).toEqual([[], ['17 v1'], ['18 v1']]);
    expect([near(17, before + 2), near(17)]).toEqual([['17 v2'], ['17 v3']]);
    expect(packed).toEqual([10_000]);
  });

  it('is rebuilt by the next ping after more than 64 changes', () => {
    near(0);
    for (let version = 2; version <= 65; version++) put(17, version);
    expect([near(17), packed]).toEqual([['17 v65'], [10_000]]);
    put(17, 66);
    expect(packed).toHaveLength(1);
    expect([near(17), near(18), packed]).toEqual([['17 v66'], ['18 v1'], [10_000, 10_000]]);
  });

  it('packs those that are over only when a ping of before asks', () => {
    for (let version = 2; version <= 11; version++) put(17, version);
    expect([near(17), packed]).toEqual([['17 v11'], [10_000]]);
    expect([near(17, clock - 1), packed]).toEqual([['17 v10'], [10_000, 10]]);
    put(18, 2);
    expect([near(17, clock - 2), near(17, clock), packed]).toEqual([['17 v10'], ['17 v11'], [10_000, 10]]);
  });
});

describe('the index of a small fleet', () => {
  it('is rebuilt after as many changes as the square root of its size', () => {
    for (let number = 0; number < 9; number++) put(number);
    near(0);
    for (let version = 2; version <= 4; version++) put(1, version);
    expect([near(1), packed]).toEqual([['1 v4'], [9]]);
    put(1, 5);
    expect([near(1), packed]).toEqual([['1 v5'], [9, 9]]);
  });

  it('is rebuilt after many lookups past a change, which cost more in the end', () => {
    for (let number = 0; number < 9; number++) put(number);
    for (let asked = 0; asked < 2_000; asked++) near(0);
    put(1, 2);
    for (let asked = 0; asked < 450; asked++) near(0);
    expect(packed).toEqual([9]);
    for (let asked = 0; asked < 2_000; asked++) near(0);
    expect([near(1), packed]).toEqual([['1 v2'], [9, 9]]);
  });

  it('finds versions after the oldest of them were let go', () => {
    for (let version = 1; version <= 5_000; version++) {
      clock += DAY / 100;
      put(0, version);
      expect(near(0)).toEqual([`0 v${String(version)}`]);
    }
    // Expects those that ended in the last 18 days, and the newest.
    expect(fleet.versionCount).toBe(1_800 + 1);
    expect(fleet.get('0', clock - 18 * DAY + 1)).toBeDefined();
    expect(fleet.get('0', clock - 19 * DAY)).toBeUndefined();
  });
});

describe('any sequence of changes and pings, by a clock that now and then goes back', () => {
  const change = fc.record({
    type: fc.constantFrom('put', 'put', 'put', 'remove'),
    number: fc.nat({ max: 30 }),
    meters: fc.integer({ min: 0, max: 4_000 }),
    radiusInMeters: fc.integer({ min: 50, max: 3_000 }),
    pause: fc.constantFrom(0, 1, 1, 2, 3, 3, -2, -5),
  });
  const question = fc.record({
    type: fc.constant('ask' as const),
    meters: fc.integer({ min: -1_000, max: 5_000 }),
    earlier: fc.constantFrom(0, 0, 0, 1, 5, 50, -5),
  });
  const steps = fc.array(fc.oneof(change, question), { minLength: 20, maxLength: 200, size: 'max' });

  function namesOf(versions: readonly GeofenceVersion[]): string[] {
    return versions.map(({ geofenceId, version }) => `${geofenceId} v${String(version)}`).sort();
  }
  /** Returns what a ping of that time at that place is in, by the index. */
  function holding(asked: FleetGeofences, meters: number, at: number): string[] {
    const { latitude, longitude } = placeAt(HERE, meters, 90);
    const found = asked.near(latitude, longitude, at);
    expect(found.filter((version) => !isInForce(version, at))).toEqual([]);
    return namesOf(found.filter(({ shape }) => shape.contains(latitude, longitude)));
  }

  it('finds at every time the one version of each geofence that is in force, whenever it was packed', () => {
    fc.assert(
      fc.property(steps, (all) => {
        const [asked, fresh] = [new FleetGeofences(), new FleetGeofences()];
        let time = 100;
        const versions = new Map<string, number>();
        const questions: [meters: number, at: number][] = [];
        for (const step of all) {
          if (step.type === 'ask') {
            const at = time - step.earlier;
            questions.push([step.meters, at]);
            const { latitude, longitude } = placeAt(HERE, step.meters, 90);
            const inForce = [...versions.keys()].flatMap((geofenceId) => asked.get(geofenceId, at) ?? []);
            const expected = namesOf(inForce.filter(({ shape }) => shape.contains(latitude, longitude)));
            expect(holding(asked, step.meters, at)).toEqual(expected);
            continue;
          }
          time += step.pause;
          const geofenceId = String(step.number);
          if (step.type === 'remove') {
            for (const one of [asked, fresh]) one.remove(geofenceId, time);
            continue;
          }
          const version = (versions.get(geofenceId) ?? 0) + 1;
          versions.set(geofenceId, version);
          const circle = { ...placeAt(HERE, step.meters, 90), radiusInMeters: step.radiusInMeters };
          for (const one of [asked, fresh]) one.put(circleFence(circle, { geofenceId, version }), time);
        }
        for (const [meters, at] of questions) expect(holding(asked, meters, at)).toEqual(holding(fresh, meters, at));
      }),
      { numRuns: 100 },
    );
  });
});
