import fc from 'fast-check';
import type { RouteProgress, Trip } from '@waypost/domain';

function maybe<T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | null> {
  return fc.option(arbitrary, { nil: null });
}

/** Any trip that can be stored, whether it makes sense or not. Of the two times of the ignition there is only ever one. */
export function trips(time: fc.Arbitrary<number>): fc.Arbitrary<Trip> {
  const route: fc.Arbitrary<RouteProgress> = fc.record({
    wayTime: time,
    wayLatitude: fc.double(),
    wayLongitude: fc.double(),
    distanceInMeters: fc.double(),
    idleMs: time,
    standing: fc.boolean(),
    ignitionOffSince: maybe(time),
    wayWithoutSpeed: fc.boolean(),
  });
  return fc
    .record({
      since: maybe(time),
      latitude: fc.double(),
      longitude: fc.double(),
      moving: fc.boolean(),
      maxSpeedInKmh: maybe(fc.double()),
      route: maybe(route),
      ignitionOffSince: maybe(time),
    })
    .map((trip) => (trip.route === null ? trip : { ...trip, ignitionOffSince: null }));
}
