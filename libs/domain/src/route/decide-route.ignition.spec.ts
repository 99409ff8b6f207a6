import { describe, expect, it } from '@jest/globals';
import type { TelemetryPing } from '../records/telemetry-ping.js';
import { travel } from '../testing/journey.js';
import { north, ping, second } from '../testing/track.js';
import { finished, setOff, tripEvents, tripsOf } from '../testing/trips.js';

describe('a route that ends with the ignition', () => {
  it.each([
    ['still off after 30 s', ping(70)],
    ['still off, as far as is known, after 30 s', ping(70, { lost: true })],
    ['on again after 30 s or more', ping(70, { ignition: true, speed: 50 })],
    ['on again after hours of silence', ping(30_000, { ignition: true })],
  ])('finishes when it went off: %s', (_what, last) => {
    const pings = [...setOff, ping(40, { ignition: false, speed: 8, north: 400 }), last];
    const at = (last.eventTime - second(0)) / 1_000;
    expect(tripsOf(pings)[at]).toEqual(['route_finished 40', 'stop_started 40']);
  });

  it('finishes at the last valid place if the ignition goes off on an invalid fix', () => {
    const pings = [...setOff, ping(40, { ignition: false, lost: true }), ping(71, { lost: true })];
    expect(tripsOf(pings)[71]).toEqual(['route_finished 40', 'stop_started 40']);
    const place = { ...north(211), locationTime: second(20) };
    expect(tripEvents(pings).slice(1)).toMatchObject([{ ...place, endLocation: north(211) }, place]);
  });

  it('finishes if the ignition becomes known, and is off', () => {
    const pings = [ping(0), ping(10, { speed: 40 }), ping(20, { speed: 40 }), ping(30, { ignition: false }), ping(60)];
    expect(tripsOf(pings)[60]).toEqual(['route_finished 30', 'stop_started 30']);
  });

  it.each([
    ['29.999 s', [ping(40, { ignition: false }), ping(69.999, { ignition: true, speed: 40 })]],
    ['a while, again and again', flaps(40, 20, 2_000)],
  ])('does not finish if it was off for %s only', (_what, pings) => {
    expect(tripsOf([...setOff, ...pings])).toEqual({ 20: ['route_started 10'] });
  });

  it('does not finish if the ignition was off before the route began', () => {
    const pings = [
      ping(0, { ignition: false }),
      ping(10, { speed: 60 }),
      ping(20, { speed: 60 }),
      ping(600, { speed: 60 }),
    ];
    expect(tripsOf(pings)).toEqual({ 20: ['route_started 10'] });
  });

  describe('if it goes off between the two pings that begin the route, on one without a fix', () => {
    const begins = [ping(0, { speed: 0, ignition: true }), ping(10, { speed: 40, north: 100 })];
    const off = ping(15, { lost: true, ignition: false });

    it.each([
      ['stays off through pings without a fix', [ping(20, { speed: 40, north: 200 }), ping(45, { lost: true })], 45],
      ['stays off on the way', [ping(20, { speed: 40 }), ping(30, { speed: 40 }), ping(46, { speed: 40 })], 46],
      ['is on again after 30 s', [ping(20, { speed: 40 }), ping(50, { speed: 40, ignition: true })], 50],
    ])('finishes when it went off if it then %s', (_what, then, at) => {
      expect(tripsOf([...begins, off, ...then])).toEqual({
        20: ['route_started 10'],
        [at]: ['route_finished 15', 'stop_started 15'],
      });
      expect(finished([...begins, off, ...then])).toMatchObject({
        endReason: 'ignition_off',
        endLocation: north(100),
        distanceInMeters: 0,
      });
    });

    it.each([
      ['is off still', []],
      ['is on again', [ping(45, { lost: true, ignition: true })]],
      [
        'is on again, and off again',
        [ping(45, { lost: true, ignition: true }), ping(48, { lost: true, ignition: false })],
      ],
    ])('finishes at once if the second ping comes 30 s later, and it %s', (_what, between) => {
      expect(tripsOf([...begins, off, ...between, ping(50, { speed: 40 })])).toEqual({
        50: ['route_started 10', 'route_finished 15', 'stop_started 15'],
      });
    });

    it.each([
      ['on again before the second ping', [ping(18, { lost: true, ignition: true }), ping(20, { speed: 40 })]],
      ['on again with the second ping', [ping(20, { speed: 40, ignition: true })]],
      ['on again after it', [ping(20, { speed: 40 }), ping(44.999, { speed: 40, ignition: true })]],
    ])('does not finish if it is %s, within 30 s', (_what, then) => {
      expect(tripsOf([...begins, off, ...then, ping(90, { speed: 40 })])).toEqual({ 20: ['route_started 10'] });
    });

    it('changes nothing if the moving ping before it began nothing', () => {
      const wild = [...begins, off, ping(20, { speed: 0 })];
      const later = [ping(100, { speed: 40 }), ping(110, { speed: 40 }), ping(180, { speed: 40 })];
      expect(tripsOf([...wild, ...later])).toEqual({ 110: ['route_started 100'] });
    });

    it('decides the same with a restart from the saved state in between', () => {
      const pings = [...begins, off, ping(20, { speed: 40 }), ping(45, { lost: true })];
      const saved = JSON.parse(JSON.stringify(travel(pings.slice(0, 3)).state)) as ReturnType<typeof travel>['state'];
      expect(travel(pings.slice(3), saved).decisions).toEqual(travel(pings).decisions.slice(3));
    });
  });

  it('takes no ping that came after the ignition was switched off', () => {
    const pings = [
      ...setOff,
      ping(40, { ignition: false, speed: 8, north: 400 }),
      ping(50, { speed: 90, north: 700 }),
      ping(70, { speed: 0, north: 900 }),
    ];
    expect(finished(pings)).toMatchObject({ endLocation: north(400), distanceInMeters: 300, maxSpeedInKmh: 40 });
  });
});

describe('a route whose ignition has been off for less than 30 s', () => {
  const off = (at: number): TelemetryPing => ping(at, { lost: true, ignition: false });
  const stands = [...setOff, ping(30, { speed: 0, north: 300 }), ping(305, { speed: 0, north: 300 }), off(310)];

  it.each([
    ['a fix', ping(3_630, { speed: 0, north: 211 })],
    ['a ping without one', ping(3_630, { lost: true })],
  ])('finishes by a gap that %s shows', (_what, shows) => {
    expect(tripsOf([...setOff, off(3_610), shows, ping(3_660, { speed: 0, north: 211 })])).toEqual({
      20: ['route_started 10'],
      3630: ['route_finished 20', 'stop_started 20'],
    });
  });

  it('finishes by standing for 300 s', () => {
    const pings = [...stands, ping(335, { speed: 0, north: 300 }), ping(345, { speed: 0, north: 300 })];
    expect(tripsOf(pings)).toEqual({
      20: ['route_started 10'],
      335: ['route_finished 30', 'stop_started 30'],
    });
    expect(finished(pings)).toMatchObject({ endReason: 'stationary', idleTimeInSeconds: 0 });
  });

  it('finishes with the ignition where one ping shows both', () => {
    expect(tripsOf([...stands, ping(345, { speed: 0, north: 300 })])[345]).toEqual([
      'route_finished 310',
      'stop_started 310',
    ]);
    expect(tripsOf([...setOff, off(3_590), ping(3_620, { lost: true })])[3_620]?.[0]).toBe('route_finished 3590');
  });

  describe('and which moves in the meantime', () => {
    const moves = [...stands, ping(320, { speed: 50, north: 350 })];

    it('does not finish by the standing before', () => {
      expect(tripsOf([...moves, ping(335, { speed: 0, north: 500 })])).toEqual({ 20: ['route_started 10'] });
      const drivesOn = [ping(335, { speed: 0, north: 500, ignition: true }), ping(360, { speed: 40, north: 600 })];
      expect(tripsOf([...moves, ...drivesOn])).toEqual({ 20: ['route_started 10'] });
    });

    it('has stood until the ignition went off', () => {
      const figures = { endLocation: north(300), idleTimeInSeconds: 280, distanceInMeters: 200 };
      expect(finished([...moves, ping(340, { speed: 0, north: 500 })])).toMatchObject({
        ...figures,
        maxSpeedInKmh: 40,
      });
      const drivesOn = [ping(335, { speed: 40, north: 500, ignition: true }), ping(4_000)];
      expect(finished([...moves, ...drivesOn])).toMatchObject({ idleTimeInSeconds: 280, distanceInMeters: 400 });
    });
  });
});

/** Off and on every few seconds, under way. */
function flaps(from: number, every: number, until: number): TelemetryPing[] {
  const pings: TelemetryPing[] = [];
  for (let at = from, ignition = false; at < until; at += every, ignition = !ignition) {
    pings.push(ping(at, { ignition, speed: 50, north: at * 10 }));
  }
  return pings;
}
