import { beforeEach, describe, expect, it } from '@jest/globals';
import type { DeviceGeofences } from '../records/device-state.js';
import type { Geofence } from '../records/geofence.js';
import { decideGeofences } from './decide-geofences.js';
import { createGeofenceHistory, type GeofenceHistory } from './geofence-history.js';
import { geofenceKey } from './geofence-key.js';
import { DEFAULT_GEOFENCE_SETTINGS, type GeofenceSettings } from './geofence-settings.js';
import { circleFence, placeAt, polygonFence } from './testing/geofences.js';

const DEPOT = { latitude: -23.55, longitude: -46.63, radiusInMeters: 500 };
const depot = circleFence(DEPOT, { geofenceId: 'depot' });
const SECOND = 1_000;

let history: GeofenceHistory;
/** The broker's clock: each record and each ping has a millisecond of its own. */
let clock: number;
let state: DeviceGeofences | null;
let settings: GeofenceSettings;

beforeEach(() => {
  history = createGeofenceHistory();
  clock = 0;
  state = null;
  settings = DEFAULT_GEOFENCE_SETTINGS;
});

function publish(geofence: Geofence): void {
  history.record(geofenceKey(geofence), geofence, ++clock);
}
function remove(geofence: Geofence): void {
  history.record(geofenceKey(geofence), null, ++clock);
}

/** A fix that far from the depot, to the east; what it makes, in the order of the events. */
function at(meters: number, eventTime: number): string[] {
  const fix = { eventTime, ...placeAt(DEPOT, meters, 90) };
  const decision = decideGeofences(state, fix, { fleet: history.fleet('fleet-1') }, ++clock, settings);
  state = { seenAt: decision.seenAt, visits: decision.visits };
  return [
    ...decision.left.map(({ geofence, enteredAt }) => `out of ${geofence.name}, in since ${String(enteredAt)}`),
    ...decision.entered.map(({ name }) => `in ${name}`),
  ];
}

describe('a device that drives into a geofence and out again (R-8)', () => {
  beforeEach(() => {
    publish(depot);
    expect(at(5_000, 0)).toEqual([]);
  });

  it('is in with the first fix inside, and in only once', () => {
    expect(at(499.9, 10 * SECOND)).toEqual(['in the depot']);
    expect(at(0, 20 * SECOND)).toEqual([]);
  });

  it('is out with the second fix in a row beyond the margin of 10 % of the radius, the time of entry with it', () => {
    at(0, 10 * SECOND);
    expect(at(551, 20 * SECOND)).toEqual([]);
    expect(at(551, 21 * SECOND)).toEqual([`out of the depot, in since 10000`]);
    expect(at(600, 30 * SECOND)).toEqual([]);
  });

  it('is not out while fixes at the border go to and fro', () => {
    at(0, 10 * SECOND);
    const flapping = [551, 549, 560, 490, 551, 510, 700, 499, 551, 549];
    expect(flapping.flatMap((meters, index) => at(meters, (20 + 60 * index) * SECOND))).toEqual([]);
    expect(at(551, 1_000 * SECOND)).toEqual([]);
    expect(at(551, 1_001 * SECOND)).toEqual(['out of the depot, in since 10000']);
  });

  it('is out after a gap only when a second fix confirms it', () => {
    at(0, 10 * SECOND);
    expect(at(5_000, 3_600 * SECOND)).toEqual([]);
    expect(at(6_000, 3_601 * SECOND)).toEqual(['out of the depot, in since 10000']);
  });

  it('is out by time where more fixes would be asked for', () => {
    settings = { ...DEFAULT_GEOFENCE_SETTINGS, leaveFixes: 99 };
    at(0, 10 * SECOND);
    expect(at(551, 20 * SECOND)).toEqual([]);
    expect(at(551, 49_999)).toEqual([]);
    expect(at(551, 50 * SECOND)).toEqual(['out of the depot, in since 10000']);
  });

  it('is in again after it was out, and only then', () => {
    at(0, 10 * SECOND);
    at(551, 20 * SECOND);
    expect(at(499, 21 * SECOND)).toEqual([]);
    at(551, 22 * SECOND);
    at(551, 23 * SECOND);
    expect(at(499, 24 * SECOND)).toEqual(['in the depot']);
  });

  it('keeps nothing of geofences that it is not in', () => {
    expect(state?.visits).toEqual([]);
    at(0, 10 * SECOND);
    const inside = state?.visits;
    at(1, 20 * SECOND);
    expect(state?.visits).toBe(inside);
    at(900, 30 * SECOND);
    at(900, 40 * SECOND);
    expect(state?.visits).toEqual([]);
  });
});

describe('the margin', () => {
  it.each([
    ['20 m for a circle of 100 m', circleFence({ ...DEPOT, radiusInMeters: 100 }), 119, 121],
    ['20 m for a circle of 200 m', circleFence({ ...DEPOT, radiusInMeters: 200 }), 219, 221],
    ['30 m for a circle of 300 m', circleFence({ ...DEPOT, radiusInMeters: 300 }), 329, 331],
  ])('is %s', (_what, geofence, inMargin, beyond) => {
    publish(geofence);
    at(9_000, 0);
    at(0, 1);
    expect([at(inMargin, 2), at(inMargin, 3), at(beyond, 4)].flat()).toEqual([]);
    expect(at(beyond, 5)).toEqual(['out of the circle, in since 1']);
  });

  it('is 10 % of the radius of a circle of the same area for a polygon', () => {
    // 1,000 m by 1,000 m about the depot: as large as a circle of 564 m.
    const half = 500 / 111_195;
    const wide = half / Math.cos((DEPOT.latitude * Math.PI) / 180);
    const { latitude, longitude } = DEPOT;
    const square: [number, number][] = [
      [latitude - half, longitude - wide],
      [latitude - half, longitude + wide],
      [latitude + half, longitude + wide],
      [latitude + half, longitude - wide],
    ];
    publish(polygonFence([square]));
    at(9_000, 0);
    expect(at(499, 1)).toEqual(['in the polygon']);
    expect([at(555, 2), at(555, 3), at(558, 4)].flat()).toEqual([]);
    expect(at(558, 5)).toEqual(['out of the polygon, in since 1']);
  });
});

describe('what began before it was observed', () => {
  it('is silent at the first sight of a device, and the time of entry stays unknown', () => {
    publish(depot);
    expect(at(0, 0)).toEqual([]);
    at(900, 1);
    expect(at(900, 2)).toEqual(['out of the depot, in since null']);
  });

  it('is silent for a geofence that is newer than the last fix', () => {
    at(0, 0);
    publish(depot);
    expect(at(0, 1)).toEqual([]);
    expect(state?.visits).toMatchObject([{ geofenceId: 'depot', enteredAt: null }]);
  });

  it('is seen by the next fix when it was read after a ping of its time, also by a device that has not moved', () => {
    at(0, 0);
    history.record(geofenceKey(depot), depot, clock);
    expect(at(0, 10 * SECOND)).toEqual(['in the depot']);
    expect(at(0, 20 * SECOND)).toEqual([]);
  });

  it('is an entry for a geofence that is older than the last fix, however new it is', () => {
    at(900, 0);
    publish(depot);
    expect(at(900, 1)).toEqual([]);
    expect(at(0, 2)).toEqual(['in the depot']);
  });

  it('is an entry when the first fix in it comes after a fix outside that saw an earlier version', () => {
    publish(depot);
    at(900, 0);
    publish({ ...depot, version: 2, circle: { ...DEPOT, radiusInMeters: 1_000 } });
    expect(at(900, 1)).toEqual(['in the depot']);
  });
});

describe('a broker with a clock behind that of its predecessor', () => {
  it('keeps what the device has seen: the visit continues, and ends with its time of entry', () => {
    clock = 1_000;
    publish(depot);
    at(5_000, 0);
    at(0, 1);
    clock = 500;
    expect([at(0, 2), at(900, 3)].flat()).toEqual([]);
    expect(at(900, 4)).toEqual(['out of the depot, in since 1']);
    expect(state?.seenAt).toBe(1_003);
  });

  it('is taken as it is for a device that is seen for the first time', () => {
    clock = 1_000;
    publish(depot);
    clock = 500;
    expect(at(0, 0)).toEqual([]);
    expect(state).toEqual({ seenAt: 501, visits: [] });
  });
});

describe('a geofence that changes while a device is in it', () => {
  beforeEach(() => {
    publish(depot);
    at(5_000, 0);
    at(0, 1);
  });

  it('is left when it moves away, by the same rule as if the device had moved', () => {
    publish({ ...depot, version: 2, circle: { ...DEPOT, latitude: 0 } });
    expect(at(0, 2)).toEqual([]);
    expect(at(0, 3)).toEqual(['out of the depot, in since 1']);
  });

  it('is not left when the device is in the new shape too, and keeps the time of entry', () => {
    publish({ ...depot, version: 2, circle: { ...DEPOT, radiusInMeters: 50 } });
    expect(at(0, 2)).toEqual([]);
    at(900, 3);
    expect(at(900, 4)).toEqual(['out of the depot, in since 1']);
  });

  it('has in an event the name of the time of the ping', () => {
    publish({ ...depot, version: 2, name: 'the yard' });
    at(900, 3);
    expect(at(900, 4)).toEqual(['out of the yard, in since 1']);
  });

  it('is forgotten without an event when it is deleted', () => {
    remove(depot);
    expect([at(0, 2), at(900, 3), at(900, 4), at(0, 5)].flat()).toEqual([]);
    expect(state?.visits).toEqual([]);
  });

  it('is new when it comes back under the same id, even if no fix came in between', () => {
    remove(depot);
    publish(depot);
    expect(at(0, 2)).toEqual([]);
    expect(state?.visits).toMatchObject([{ geofenceId: 'depot', enteredAt: null }]);
  });
});

describe('geofences that overlap or touch (R-10)', () => {
  it('are left before others are entered, each by the order of their ids', () => {
    const ring = (geofenceId: string, meters: number): Geofence =>
      circleFence({ ...placeAt(DEPOT, meters, 90), radiusInMeters: 200 }, { geofenceId, name: geofenceId });
    for (const geofenceId of ['d', 'b']) publish(ring(geofenceId, 0));
    for (const geofenceId of ['c', 'a', 'é', 'B']) publish(ring(geofenceId, 1_000));
    at(-5_000, 0);
    expect(at(0, 1)).toEqual(['in b', 'in d']);
    at(500, 2);
    expect(at(1_000, 3)).toEqual(['out of b, in since 1', 'out of d, in since 1', 'in B', 'in a', 'in c', 'in é']);
    expect(state?.visits.map(({ geofenceId }) => geofenceId)).toEqual(['B', 'a', 'c', 'é']);
  });
});
