import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { DeviceGeofences } from '../records/device-state.js';
import { decideGeofences } from './decide-geofences.js';
import { FleetGeofences } from './geofence-history.js';
import { DEFAULT_GEOFENCE_SETTINGS } from './geofence-settings.js';
import type { GeofenceVersion } from './geofence-version.js';
import { circleFence, placeAt } from './testing/geofences.js';

const CENTER = { latitude: 10, longitude: 10 };
const SEEN_AT = 1_000;

/** How often an id of a geofence was read, which is what looking one up by comparing costs. */
let reads = 0;
function counted<T extends { readonly geofenceId: string }>(one: T): T {
  return new Proxy(one, {
    get(target, property) {
      if (property === 'geofenceId') reads++;
      return Reflect.get(target, property) as unknown;
    },
  });
}

class CountedGeofences extends FleetGeofences {
  override near(latitude: number, longitude: number, at: number): readonly GeofenceVersion[] {
    return super.near(latitude, longitude, at).map(counted);
  }
}

/** All over each other. Their ids are not in the order of the index. */
function overlapping(count: number): CountedGeofences {
  const fleet = new CountedGeofences();
  for (let number = 0; number < count; number++) {
    const circle = { ...placeAt(CENTER, number, 90), radiusInMeters: 50_000 };
    fleet.put(circleFence(circle, { geofenceId: String((number * 7) % count) }), 1);
  }
  return fleet;
}

function readsOfJourney(count: number): number {
  const fleet = overlapping(count);
  let state: DeviceGeofences = { seenAt: SEEN_AT, visits: [] };
  reads = 0;
  const events = [0, 10, 500_000, 500_000].map((meters, index) => {
    const fix = { eventTime: index * 1_000, ...placeAt(CENTER, meters, 90) };
    const { seenAt, visits, left, entered } = decideGeofences(
      state,
      fix,
      { fleet },
      SEEN_AT + index,
      DEFAULT_GEOFENCE_SETTINGS,
    );
    state = { seenAt, visits: visits.map(counted) };
    return [entered.length, left.length];
  });
  expect(events).toEqual([
    [count, 0],
    [0, 0],
    [0, 0],
    [0, count],
  ]);
  return reads;
}

describe('a fleet that lays its geofences over each other', () => {
  it('costs in proportion to them, on the way in, inside and on the way out', () => {
    const [few, many] = [readsOfJourney(100), readsOfJourney(800)];
    // Sorting and searching take a little more than twice as many looks per geofence; comparing each with each, 8 times.
    expect(many / few).toBeLessThan(3 * 8);
  });
});

describe('any visits of a device among any geofences', () => {
  const circle = fc.record({
    meters: fc.integer({ min: -600, max: 600 }),
    radiusInMeters: fc.integer({ min: 50, max: 400 }),
    since: fc.constantFrom(1, SEEN_AT + 1),
  });
  const ids = 'abcdefghijklmnop'.split('');
  const circles = fc
    .tuple(...ids.map(() => fc.option(circle, { nil: null })))
    .map((some) => ids.flatMap((id, index) => (some[index] ? [[id, some[index]] as const] : [])));
  /** Also of geofences that there are no more. */
  const visited = fc.subarray([...ids, 'q', 'r']);
  const moves = fc.array(fc.integer({ min: -700, max: 700 }), { minLength: 1, maxLength: 6 });

  it('become what the rules make of each geofence by itself', () => {
    fc.assert(
      fc.property(circles, visited, moves, (fences, within, places) => {
        const all = fleetOf(fences);
        const alone = new Map([...ids, 'q', 'r'].map((id) => [id, fleetOf(fences.filter(([one]) => one === id))]));
        let state: DeviceGeofences = { seenAt: SEEN_AT, visits: within.map(visitOf) };
        for (const [index, meters] of places.entries()) {
          const fix = { eventTime: index * 1_000, ...placeAt(CENTER, meters, 90) };
          const at = SEEN_AT + 2 + index;
          const decide = (before: DeviceGeofences, fleet: FleetGeofences) =>
            decideGeofences(before, fix, { fleet }, at, DEFAULT_GEOFENCE_SETTINGS);
          const before = state;
          const each = [...alone].map(([id, fleet]) => {
            const visits = before.visits.filter(({ geofenceId }) => geofenceId === id);
            return decide({ seenAt: before.seenAt, visits }, fleet);
          });
          const decision = decide(before, all);
          expect(plain(decision)).toEqual({
            visits: each.flatMap(({ visits }) => visits),
            left: each.flatMap(({ left }) => plain({ left }).left),
            entered: each.flatMap(({ entered }) => plain({ entered }).entered),
          });
          state = { seenAt: decision.seenAt, visits: decision.visits };
        }
      }),
      { numRuns: 50 },
    );
  });

  type Circle = typeof circle extends fc.Arbitrary<infer T> ? T : never;

  function fleetOf(entries: readonly (readonly [string, Circle])[]): FleetGeofences {
    const fleet = new FleetGeofences();
    for (const [geofenceId, { meters, radiusInMeters, since }] of entries)
      fleet.put(circleFence({ ...placeAt(CENTER, meters, 90), radiusInMeters }, { geofenceId }), since);
    return fleet;
  }
  function visitOf(geofenceId: string) {
    return { geofenceId, enteredAt: 0, leavingSince: null, leavingFixes: 0 };
  }
  function plain({ visits, left, entered }: Partial<ReturnType<typeof decideGeofences>>) {
    return {
      visits,
      left: left?.map(({ geofence, enteredAt }) => [geofence.geofenceId, enteredAt]),
      entered: entered?.map(({ geofenceId }) => geofenceId),
    };
  }
});
