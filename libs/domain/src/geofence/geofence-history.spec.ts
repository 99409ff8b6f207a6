import { beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Geofence } from '../records/geofence.js';
import { createGeofenceHistory, FleetGeofences } from './geofence-history.js';
import { createGeofenceIndex } from './geofence-index.js';
import { GeofenceVersion } from './geofence-version.js';
import { circleFence, polygonFence } from './testing/geofences.js';

const DAY = 86_400_000;
const HERE = { latitude: 10, longitude: 20 };
function fence(version: number, fields: Partial<Geofence> = {}): Geofence {
  return circleFence(
    { ...HERE, radiusInMeters: 100 },
    { geofenceId: 'a', version, name: `v${String(version)}`, ...fields },
  );
}

let fleet: FleetGeofences;
beforeEach(() => {
  fleet = new FleetGeofences();
});

function seenAt(time: number): string | undefined {
  return fleet.get('a', time)?.name;
}
function nearAt(time: number): string[] {
  return fleet.near(HERE.latitude, HERE.longitude, time).map(({ name }) => name);
}

describe('the version of a geofence that a ping sees (decision 0028)', () => {
  it('is the newest that was appended at or before the ping', () => {
    fleet.put(fence(1), 100);
    fleet.put(fence(2), 200);
    fleet.remove('a', 300);
    fleet.put(fence(1, { name: 'again' }), 400);
    const times = [99, 100, 199, 200, 299, 300, 399, 400, 9_999];
    const expected = [undefined, 'v1', 'v1', 'v2', 'v2', undefined, undefined, 'again', 'again'];
    expect(times.map(seenAt)).toEqual(expected);
    expect(times.map((time) => nearAt(time)[0])).toEqual(expected);
    expect(times.every((time) => nearAt(time).length <= 1)).toBe(true);
  });

  it('is the later record of two in the same millisecond', () => {
    fleet.put(fence(1), 100);
    fleet.put(fence(2), 100);
    expect([seenAt(100), nearAt(100)]).toEqual(['v2', ['v2']]);
  });

  it('is one, the later record, where the clock of the broker has gone back', () => {
    fleet.put(fence(1), 50);
    fleet.put(fence(2), 100);
    fleet.remove('a', 95);
    fleet.put(fence(1, { name: 'again' }), 90);
    expect([89, 90, 94, 95, 100].map(nearAt)).toEqual([['v1'], ['again'], ['again'], ['again'], ['again']]);
    expect([89, 90, 94, 95, 100].map(seenAt)).toEqual(['v1', 'again', 'again', 'again', 'again']);
  });

  it('is not another when a version is published once more', () => {
    fleet.put(fence(1), 100);
    fleet.put(fence(2), 200);
    fleet.put(fence(1, { name: 'late' }), 300);
    fleet.put(fence(2, { name: 'twice' }), 400);
    expect([seenAt(300), seenAt(400), fleet.versionCount]).toEqual(['v2', 'v2', 2]);
  });

  it('is found by an older ping too, after each further change', () => {
    fleet.put(fence(1), 100);
    fleet.put(fence(2), 200);
    expect(nearAt(150)).toEqual(['v1']);
    fleet.put(fence(3), 300);
    expect([nearAt(150), nearAt(250), nearAt(300)]).toEqual([['v1'], ['v2'], ['v3']]);
  });

  it('survives the deletion of what never was', () => {
    fleet.remove('nothing', 100);
    expect(fleet.versionCount).toBe(0);
  });
});

describe('how old a geofence is', () => {
  const sinceOf = (time: number): number | undefined => fleet.get('a', time)?.since;

  it('counts from its first version, and starts over after a deletion', () => {
    fleet.put(fence(1, { createdAt: 90 }), 100);
    fleet.put(fence(2, { createdAt: 90 }), 200);
    fleet.remove('a', 300);
    fleet.put(fence(1, { createdAt: 390 }), 400);
    expect([sinceOf(150), sinceOf(250), sinceOf(450)]).toEqual([100, 100, 400]);
  });

  it('counts from the earlier time when the clock of the broker has gone back', () => {
    fleet.put(fence(1), 100);
    fleet.put(fence(2), 90);
    expect([sinceOf(95), sinceOf(100)]).toEqual([90, 90]);
  });

  it('counts from its creation when the broker has compacted the first versions away', () => {
    fleet.put(fence(7, { createdAt: 90 }), 200);
    expect(sinceOf(200)).toBe(90);
  });
});

describe('the memory of versions', () => {
  it('lets go of those that ended 18 days before the newest change', () => {
    fleet.put(fence(1), DAY);
    fleet.put(fence(2), 2 * DAY);
    fleet.put(fence(3), 19 * DAY);
    expect([fleet.versionCount, seenAt(DAY)]).toEqual([3, 'v1']);
    fleet.put(fence(4), 20 * DAY);
    // v1 ended on day 2.
    expect([fleet.versionCount, seenAt(DAY), seenAt(2 * DAY)]).toEqual([3, undefined, 'v2']);
    fleet.remove('a', 21 * DAY);
    fleet.put(fence(1, { geofenceId: 'b' }), 40 * DAY);
    expect(fleet.versionCount).toBe(1);
  });
});

describe('the history of all fleets', () => {
  it('keeps equal ids of two fleets apart', () => {
    const history = createGeofenceHistory();
    history.record('one\u001fa', fence(1, { fleetId: 'one' }), 100);
    history.record('two\u001fa', fence(1, { fleetId: 'two', name: 'of two' }), 100);
    history.record('one\u001fa', null, 200);
    expect(history.fleet('one')?.get('a', 200)).toBeUndefined();
    expect(history.fleet('two')?.get('a', 200)?.name).toBe('of two');
    expect([history.fleet('three'), history.fleetCount, history.versionCount]).toEqual([undefined, 2, 2]);
  });
});

describe('the index', () => {
  const degrees = (min: number, max: number): fc.Arbitrary<number> => fc.double({ min, max, noNaN: true });
  const fences = fc.oneof(
    fc
      .record({ latitude: degrees(-90, 90), longitude: degrees(-180, 180), radiusInMeters: degrees(1, 3_000_000) })
      .map((circle) => circleFence(circle)),
    fc
      .record({
        south: degrees(-90, 85),
        west: degrees(-180, 180),
        height: degrees(0.001, 5),
        width: degrees(0.001, 90),
      })
      .map(({ south, west, height, width }) => {
        const east = west + width > 180 ? west + width - 360 : west + width;
        return polygonFence([
          [
            [south, west],
            [south, east],
            [south + height, east],
            [south + height, west],
          ],
        ]);
      }),
  );
  /** On the corners of cells too, and on the antimeridian. */
  const latitudes = fc.oneof(
    degrees(-90, 90),
    fc.integer({ min: -9_000, max: 9_000 }).map((n) => n / 100),
  );
  const longitudes = fc.oneof(
    degrees(-180, 180),
    fc.integer({ min: -18_000, max: 18_000 }).map((n) => n / 100),
  );

  it('finds every geofence that holds a place, as looking at all of them does', () => {
    fc.assert(
      fc.property(
        fc.array(fences, { maxLength: 40 }),
        fc.array(fc.tuple(latitudes, longitudes), { maxLength: 20 }),
        (all, places) => {
          const versions = all.map((geofence) => new GeofenceVersion(geofence, 0, 0));
          const index = createGeofenceIndex(versions);
          for (const [latitude, longitude] of [...places, ...places]) {
            const found = new Set(index.near(latitude, longitude));
            const missing = versions.filter(
              (version) => version.shape.contains(latitude, longitude) && !found.has(version),
            );
            expect(missing).toEqual([]);
          }
        },
      ),
      { numRuns: 300 },
    );
  });

  it('names few of thousands for a place', () => {
    const versions = Array.from({ length: 5_000 }, (_, n) => {
      const geofence = circleFence({ latitude: 50 + (n % 50) / 50, longitude: 5 + n / 5_000, radiusInMeters: 200 });
      return new GeofenceVersion(geofence, 0, 0);
    });
    const index = createGeofenceIndex(versions);
    expect(index.near(50.4, 5.404).length).toBeLessThan(100);
    expect(index.near(60, 5)).toEqual([]);
  });
});
