import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { DeviceGeofences, GeofenceVisit } from '../telemetry/device-state.js';
import { decideGeofences } from './decide-geofences.js';
import { FleetGeofences } from './fleet-geofences.js';
import type { GeoBox } from './geo-box.js';
import type { Geofence } from './geofence.js';
import { DEFAULT_GEOFENCE_SETTINGS } from './geofence-settings.js';
import { circleFence, placeAt, polygonFence } from './testing/geofences.js';

interface Place {
  readonly latitude: number;
  readonly longitude: number;
}

/** Also where degrees of longitude are short, and on both sides of the antimeridian. */
const centers = fc.constantFrom<Place>(
  { latitude: 0.003, longitude: -0.002 },
  { latitude: 52.1, longitude: 4.9 },
  { latitude: -33.87, longitude: 179.9995 },
  { latitude: 69.65, longitude: -179.9992 },
  { latitude: 84.2, longitude: 20 },
);
const bearings = fc.integer({ min: 0, max: 359 });
/** From the centre of it all. */
const offsets = fc.record({ meters: fc.integer({ min: 0, max: 3_000 }), bearing: bearings });
const sizes = fc.constantFrom(20, 90, 400, 1_500, 60_000);

/** Corners by turns near and far, so that some corners point inwards. */
const starAround = (middle: Place, size: number, turn: number): [number, number][] =>
  Array.from({ length: 10 }, (_, corner) => {
    const { latitude, longitude } = placeAt(middle, corner % 2 === 0 ? size : size / 3, turn + corner * 36);
    return [latitude, longitude];
  });

const fencesAround = (center: Place): fc.Arbitrary<Geofence> =>
  fc
    .record({ offset: offsets, size: sizes, turn: bearings, kind: fc.constantFrom('circle', 'star', 'ring') })
    .map(({ offset, size, turn, kind }) => {
      const middle = placeAt(center, offset.meters, offset.bearing);
      if (kind === 'circle') return circleFence({ ...middle, radiusInMeters: size });
      const outer = starAround(middle, size, turn);
      return polygonFence(kind === 'star' ? [outer] : [outer, starAround(middle, size / 4, -turn)]);
    });

const AT = 1_000;
const NO_VISITS: readonly GeofenceVisit[] = [];
const fixAt = (place: Place) => ({ ...place, eventTime: 7 });

/** A device that has been at the place for a while. */
const settledAt = (place: Place, fleet: FleetGeofences): DeviceGeofences => {
  const first = { seenAt: AT, visits: NO_VISITS };
  return decideGeofences(first, fixAt(place), { fleet, at: AT }, DEFAULT_GEOFENCE_SETTINGS).state;
};

/** Shares of the way from one side to the other. */
const within = (area: GeoBox, north: number, east: number): Place => ({
  latitude: area.minLatitude + north * (area.maxLatitude - area.minLatitude),
  longitude: area.minLongitude + east * (area.maxLongitude - area.minLongitude),
});

const shares = fc.integer({ min: 1, max: 999 }).map((thousandths) => thousandths / 1_000);
const somewhere = centers.chain((center) =>
  fc.record({
    place: offsets.map(({ meters, bearing }) => placeAt(center, meters, bearing)),
    fences: fc.array(fencesAround(center), { minLength: 1, maxLength: 6 }),
    others: fc.array(fc.tuple(shares, shares), { minLength: 5, maxLength: 5 }),
  }),
);

const fleetWith = (fences: readonly Geofence[]): FleetGeofences => {
  const fleet = new FleetGeofences();
  fences.forEach((fence, index) => {
    fleet.put({ ...fence, geofenceId: `fence-${String(index)}` }, index);
  });
  // It is packed by the first look.
  fleet.near(0, 0, AT);
  return fleet;
};

describe('a calm area', () => {
  it('holds no place at which a fix changes anything of the geofences of the device (R-8)', () => {
    let found = 0;
    let inside = 0;
    fc.assert(
      fc.property(somewhere, ({ place, fences, others }) => {
        const fleet = fleetWith(fences);
        const before = settledAt(place, fleet);
        const area = fleet.calmArea(place.latitude, place.longitude, AT, before);
        if (area === null) return;
        found++;
        if (before.visits.length > 0) inside++;
        for (const [north, east] of others) {
          const decision = decideGeofences(
            before,
            fixAt(within(area, north, east)),
            { fleet, at: AT },
            DEFAULT_GEOFENCE_SETTINGS,
          );
          expect(decision.state.visits).toBe(before.visits);
          expect([...decision.left, ...decision.entered]).toEqual([]);
        }
      }),
      { numRuns: 3_000 },
    );
    expect(found).toBeGreaterThan(2_000);
    expect(inside).toBeGreaterThan(300);
  });

  it('is around the place, and some metres wide wherever no edge is near', () => {
    fc.assert(
      fc.property(somewhere, ({ place, fences }) => {
        const fleet = fleetWith(fences);
        const area = fleet.calmArea(place.latitude, place.longitude, AT, settledAt(place, fleet));
        if (area === null) return;
        expect(place.latitude).toBeGreaterThanOrEqual(area.minLatitude);
        expect(place.latitude).toBeLessThanOrEqual(area.maxLatitude);
        expect(place.longitude).toBeGreaterThanOrEqual(area.minLongitude);
        expect(place.longitude).toBeLessThanOrEqual(area.maxLongitude);
      }),
    );
    const place = { latitude: 52.1, longitude: 4.9 };
    const fleet = fleetWith([circleFence({ ...place, radiusInMeters: 500 })]);
    const area = fleet.calmArea(place.latitude, place.longitude, AT, settledAt(place, fleet));
    expect((area?.maxLatitude ?? NaN) - 52.1).toBeCloseTo((0.6 * 500) / 111_195, 4);
  });
});

describe('there is no calm area', () => {
  const place = { latitude: 52.1, longitude: 4.9 };
  const circle = circleFence({ ...place, radiusInMeters: 500 }, { geofenceId: 'fence-0' });
  const visit = { geofenceId: 'fence-0', enteredAt: 1, leavingSince: null, leavingFixes: 0 };
  const areaFor = (before: DeviceGeofences, at = AT): GeoBox | null =>
    fleetWith([circle]).calmArea(place.latitude, place.longitude, at, before);

  it.each<[string, DeviceGeofences]>([
    ['has not entered a geofence that it is in', { seenAt: AT, visits: [] }],
    ['is about to leave one', { seenAt: AT, visits: [{ ...visit, leavingSince: 5, leavingFixes: 1 }] }],
    ['is in one that is not there', { seenAt: AT, visits: [visit, { ...visit, geofenceId: 'gone' }] }],
    ['has not seen the one that it is in', { seenAt: -1, visits: [visit] }],
  ])('for a device that %s', (_what, before) => {
    expect(areaFor({ seenAt: AT, visits: [visit] })).not.toBeNull();
    expect(areaFor(before)).toBeNull();
  });

  it('for a ping that is older than the newest change', () => {
    const before = { seenAt: -5, visits: [] };
    const far = (at: number): GeoBox | null => fleetWith([circle]).calmArea(10, 10, at, before);
    expect(far(0)).not.toBeNull();
    expect(far(-1)).toBeNull();
  });

  it('right after a change: the revision is another one, and nothing is packed', () => {
    const fleet = fleetWith([circle]);
    const { revision } = fleet;
    fleet.remove('fence-0', AT);
    expect(fleet.revision).not.toBe(revision);
    const again = fleet.revision;
    fleet.put({ ...circle, version: 2 }, AT);
    expect(fleet.revision).not.toBe(again);
    expect(fleet.calmArea(10, 10, AT, { seenAt: AT, visits: [] })).toBeNull();
  });

  it('next to a pole', () => {
    const before = { seenAt: AT, visits: [] };
    expect(fleetWith([circle]).calmArea(85.1, 10, AT, before)).toBeNull();
    expect(fleetWith([circle]).calmArea(-85.1, 10, AT, before)).toBeNull();
  });
});
