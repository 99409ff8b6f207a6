import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  type PlainFenceRecord,
  type PlainFix,
  plainGeofences,
  type PlainShape,
} from '../../../../test/support/plain-geofences.js';
import type { DeviceGeofences } from '../records/device-state.js';
import type { Geofence } from '../records/geofence.js';
import { decideGeofences } from './decide-geofences.js';
import { createGeofenceHistory, type GeofenceHistory } from './geofence-history.js';
import { geofenceKey } from './geofence-key.js';
import { DEFAULT_GEOFENCE_SETTINGS } from './geofence-settings.js';
import { circleFence, polygonFence } from './testing/geofences.js';

const LATITUDE = 52;
const LONGITUDE = 179.999;
const METERS_PER_DEGREE = 111_195;
function east(meters: number): number {
  return LONGITUDE + meters / METERS_PER_DEGREE / Math.cos((LATITUDE * Math.PI) / 180);
}
function north(meters: number): number {
  return LATITUDE + meters / METERS_PER_DEGREE;
}
/** On the globe; the oracle counts on beyond 180. */
function wrapped(longitude: number): number {
  return longitude > 180 ? longitude - 360 : longitude;
}

const meters = fc.integer({ min: -15, max: 15 }).map((tens) => tens * 10 + 0.37);
const shapes: fc.Arbitrary<PlainShape> = fc.oneof(
  fc
    .record({ x: meters, y: meters, radius: fc.constantFrom(15, 60, 110, 250) })
    .map(({ x, y, radius }) => ({ type: 'circle' as const, latitude: north(y), longitude: east(x), radius })),
  fc
    .record({
      x: meters,
      y: meters,
      width: fc.integer({ min: 20, max: 400 }),
      height: fc.integer({ min: 20, max: 400 }),
    })
    .map(({ x, y, width, height }) => ({
      type: 'rectangle' as const,
      south: north(y),
      north: north(y + height),
      west: east(x),
      east: east(x + width),
    })),
);

/** What happens, in the order of the broker's clock; several things may happen in one millisecond of it. */
type Step =
  | { readonly type: 'fence'; readonly geofenceId: string; readonly shape: PlainShape | null; readonly pause: number }
  | {
      readonly type: 'fix';
      readonly dx: number;
      readonly dy: number;
      readonly seconds: number;
      readonly pause: number;
    };

const pause = fc.constantFrom(0, 0, 1, 5);
const fenceSteps: fc.Arbitrary<Step> = fc.record({
  type: fc.constant('fence' as const),
  geofenceId: fc.constantFrom('a', 'b', 'c'),
  shape: fc.option(shapes, { nil: null, freq: 4 }),
  pause,
});
/** Each a little further than the last, so that a device is often in the margin, and leaves and comes back. */
const fixSteps: fc.Arbitrary<Step> = fc.record({
  type: fc.constant('fix' as const),
  dx: fc.constantFrom(-130, -60, -12, 0, 12, 60, 130),
  dy: fc.constantFrom(-130, -60, -12, 0, 12, 60, 130),
  seconds: fc.constantFrom(1, 10, 29.999, 30, 60),
  pause,
});
const journeys: fc.Arbitrary<Step[]> = fc
  .tuple(
    fc.array(fenceSteps, { maxLength: 4 }),
    fc.array(fc.oneof({ arbitrary: fenceSteps, weight: 1 }, { arbitrary: fixSteps, weight: 12 }), {
      minLength: 20,
      maxLength: 60,
    }),
  )
  .map((parts) => parts.flat());

interface Recorded {
  readonly log: PlainFenceRecord[];
  readonly fixes: PlainFix[];
}

function recorded(steps: readonly Step[]): Recorded {
  const log: PlainFenceRecord[] = [];
  const fixes: PlainFix[] = [];
  let [appendedAt, time, x, y] = [1_000, 0, 0, 0];
  for (const step of steps) {
    appendedAt += step.pause;
    if (step.type === 'fence') {
      log.push({ appendedAt, geofenceId: step.geofenceId, shape: step.shape });
      continue;
    }
    // A version of the same millisecond counts, so what is live must have it by then.
    appendedAt += 1;
    time += step.seconds * 1_000;
    x = Math.max(-300, Math.min(300, x + step.dx));
    y = Math.max(-300, Math.min(300, y + step.dy));
    fixes.push({ appendedAt, time, latitude: north(y), longitude: east(x) });
    appendedAt += 1;
  }
  return { log, fixes };
}

function fenceOf({ geofenceId, shape }: PlainFenceRecord, version: number): Geofence | null {
  if (shape === null) return null;
  if (shape.type === 'circle') {
    const { latitude, longitude, radius } = shape;
    const circle = { latitude, longitude: wrapped(longitude), radiusInMeters: radius };
    return circleFence(circle, { geofenceId, version });
  }
  const { south, north: top, west, east: right } = shape;
  const corners: [number, number][] = [
    [south, wrapped(west)],
    [south, wrapped(right)],
    [top, wrapped(right)],
    [top, wrapped(west)],
  ];
  return polygonFence([corners], { geofenceId, version });
}

/** The records of one geofence count their versions, from 1 again after a deletion. */
function feeder(history: GeofenceHistory): (record: PlainFenceRecord) => void {
  const versions = new Map<string, number>();
  return (record) => {
    const version = record.shape === null ? 0 : (versions.get(record.geofenceId) ?? 0) + 1;
    versions.set(record.geofenceId, version);
    const key = geofenceKey({ fleetId: 'fleet-1', geofenceId: record.geofenceId });
    history.record(key, fenceOf(record, version), record.appendedAt);
  };
}

function eventsOf({ log, fixes }: Recorded, known: 'as it comes' | 'from the start'): object[][] {
  const history = createGeofenceHistory();
  const feed = feeder(history);
  const coming = [...log];
  if (known === 'from the start') for (const record of coming.splice(0)) feed(record);
  let state: DeviceGeofences | null = null;
  return fixes.map((fix) => {
    while (coming[0] !== undefined && coming[0].appendedAt <= fix.appendedAt) feed(coming.shift() as PlainFenceRecord);
    const at = { eventTime: fix.time, latitude: fix.latitude, longitude: wrapped(fix.longitude) };
    const view = { fleet: history.fleet('fleet-1') };
    const decision = decideGeofences(state, at, view, fix.appendedAt, DEFAULT_GEOFENCE_SETTINGS);
    state = decision;
    return [
      ...decision.left.map(({ geofence: { geofenceId }, enteredAt }) => ({
        type: 'geofence_out',
        geofenceId,
        time: fix.time,
        ...(enteredAt === null ? {} : { enteredAt }),
      })),
      ...decision.entered.map(({ geofenceId }) => ({ type: 'geofence_in', geofenceId, time: fix.time })),
    ];
  });
}

describe('any journey among geofences that come, change and go (R-8)', () => {
  it('has the events that the rules have when they are applied plainly', () => {
    fc.assert(
      fc.property(journeys, (steps) => {
        const recording = recorded(steps);
        expect(eventsOf(recording, 'as it comes')).toEqual(plainGeofences(recording.log, recording.fixes));
      }),
      { numRuns: 200 },
    );
  });

  it('has the same events when it is replayed with every version known from the start', () => {
    fc.assert(
      fc.property(journeys, (steps) => {
        const recording = recorded(steps);
        expect(eventsOf(recording, 'from the start')).toEqual(eventsOf(recording, 'as it comes'));
      }),
      { numRuns: 200 },
    );
  });

  it('has both kinds of events often enough for that to mean something', () => {
    const seen = fc.sample(journeys, { numRuns: 200, seed: 7 }).flatMap((steps) => {
      const { log, fixes } = recorded(steps);
      return plainGeofences(log, fixes).flat();
    });
    expect(seen.filter(({ type }) => type === 'geofence_in').length).toBeGreaterThan(100);
    expect(
      seen.filter(({ type, enteredAt }) => type === 'geofence_out' && enteredAt !== undefined).length,
    ).toBeGreaterThan(50);
    expect(
      seen.filter(({ type, enteredAt }) => type === 'geofence_out' && enteredAt === undefined).length,
    ).toBeGreaterThan(20);
  });
});
