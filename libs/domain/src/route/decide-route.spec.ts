import { describe, expect, it } from '@jest/globals';
import type { TelemetryPing } from '../records/telemetry-ping.js';
import { travel } from '../testing/journey.js';
import { north, ping, second } from '../testing/track.js';
import { finished, setOff, tripEvents, tripsOf } from '../testing/trips.js';

describe('the start of a route', () => {
  it('is the first of 2 consecutive pings of 5 km/h or more', () => {
    expect(tripsOf([ping(0, { speed: 0 }), ping(10, { speed: 5 }), ping(20, { speed: 5 })])).toEqual({
      20: ['route_started 10'],
    });
  });

  it('is the first ping of a device that is first seen on the move', () => {
    expect(tripsOf([ping(0, { speed: 50 }), ping(10, { speed: 50, north: 140 })])).toEqual({ 10: ['route_started 0'] });
  });

  it.each([
    ['one ping at speed', [ping(10, { speed: 50 }), ping(20, { speed: 4.9 })]],
    ['two with a slow one in between', [ping(10, { speed: 50 }), ping(20, { speed: 4 }), ping(30, { speed: 50 })]],
    ['speeds just below 5 km/h', [ping(10, { speed: 4.99 }), ping(20, { speed: 4.99 }), ping(30, { speed: 4.99 })]],
    ['a speed that no vehicle has', [ping(10, { speed: 410.38 }), ping(20, { speed: 410.38 })]],
    [
      'a speed that is not a number',
      [ping(10, { speed: NaN }), ping(20, { speed: Infinity }), ping(30, { speed: -40 })],
    ],
    ['drift of 199 m', [ping(10, { speed: 0, north: 199 }), ping(20, { north: -199 }), ping(30, { north: 199 })]],
    ['one wild fix', [ping(10, { speed: 0, north: 5_000 }), ping(20, { speed: 0, north: 3 })]],
    ['two wild fixes apart', [ping(10, { north: 5_000 }), ping(20), ping(30, { north: 5_000 }), ping(40)]],
    ['two pings on two sides of a gap', [ping(10, { speed: 9 }), ping(3_610, { speed: 9 }), ping(3_620, { speed: 0 })]],
  ])('is not triggered by %s', (_what, pings) => expect(tripsOf([ping(0, { speed: 0 }), ...pings])).toEqual({}));

  it('is the first of 2 consecutive pings 200 m or more from the stop point, at no speed and without one', () => {
    const pings = (speed?: number): TelemetryPing[] => [
      ping(0),
      ping(60, { north: 190 }),
      ping(120, { north: 201, ...(speed === undefined ? {} : { speed }) }),
      ping(180, { north: 210, ...(speed === undefined ? {} : { speed }) }),
    ];
    expect(tripsOf(pings())).toEqual({ 180: ['route_started 120'] });
    expect(tripsOf(pings(0))).toEqual({ 180: ['route_started 120'] });
  });

  it('takes one ping at speed and one at a distance', () => {
    expect(tripsOf([ping(0), ping(60, { speed: 9, north: 90 }), ping(120, { speed: 0, north: 300 })])).toEqual({
      120: ['route_started 60'],
    });
  });

  it('ignores pings without a valid fix, which are neither moving nor still', () => {
    const pings = [ping(0), ping(10, { speed: 30 }), ping(20, { lost: true, speed: 0 }), ping(30, { speed: 30 })];
    expect(tripsOf(pings)).toEqual({ 30: ['route_started 10'] });
  });

  it('is a valid fix, however fast the pings before were', () => {
    expect(tripsOf([ping(0, { lost: true, speed: 50 }), ping(10, { speed: 50 })])).toEqual({});
  });

  it('does not depend on the ignition: a towed vehicle drives as well', () => {
    const pings = [
      ping(0, { ignition: false }),
      ping(10, { speed: 60 }),
      ping(20, { speed: 60 }),
      ping(90, { speed: 60 }),
    ];
    expect(tripsOf(pings)).toEqual({ 20: ['route_started 10'] });
  });
});

describe('a route that ends by standing', () => {
  it('finishes after 300 s below 3 km/h, at the first still ping', () => {
    const pings = [...setOff, ping(30, { speed: 2.9, north: 300 }), ping(329.999, { speed: 0, north: 300 })];
    expect(tripsOf(pings)).toEqual({ 20: ['route_started 10'] });
    expect(tripsOf([...pings, ping(330, { speed: 0, north: 300 })])).toEqual({
      20: ['route_started 10'],
      330: ['route_finished 30', 'stop_started 30'],
    });
  });

  it.each([
    ['a ping of 3 km/h', ping(200, { speed: 3, north: 300 })],
    ['a ping that is far away and has no speed', ping(200, { north: 501 })],
  ])('counts the time from zero again after %s', (_what, between) => {
    const pings = [...setOff, ping(30, { speed: 0, north: 300 }), between, ping(340, { speed: 0, north: 501 })];
    expect(tripsOf(pings)).toEqual({ 20: ['route_started 10'] });
  });

  it('finishes over pings without a valid fix, but not at one', () => {
    const pings = [...setOff, ping(30, { speed: 0 }), ping(200, { lost: true, speed: 90 }), ping(340, { lost: true })];
    expect(tripsOf(pings)).toEqual({ 20: ['route_started 10'] });
    expect(tripsOf([...pings, ping(350, { speed: 0 })])[350]).toEqual(['route_finished 30', 'stop_started 30']);
  });

  it('finishes for a device that reports no speed and stays within 200 m', () => {
    const pings = [
      ping(0),
      ping(60, { north: 900 }),
      ping(120, { north: 1_800 }),
      ping(180, { north: 2_700 }),
      ping(300, { north: 2_890 }),
      ping(480, { north: 2_510 }),
    ];
    expect(tripsOf(pings)).toEqual({ 120: ['route_started 60'], 480: ['route_finished 180', 'stop_started 180'] });
    expect(finished(pings)).toMatchObject({ maxSpeedInKmh: null, idleTimeInSeconds: null, distanceInMeters: 1_800 });
  });

  describe('after a ping without a speed', () => {
    const begins = [...setOff, ping(100, { north: 1_000 })];

    it('finishes at slow pings within 200 m', () => {
      const pings = [...begins, ping(250, { speed: 0, north: 1_190 }), ping(400, { speed: 0, north: 900 })];
      expect(tripsOf(pings)[400]).toEqual(['route_finished 100', 'stop_started 100']);
    });

    it('does not finish at a slow ping far away, from which the standing counts again', () => {
      const pings = [...begins, ping(400, { speed: 0, north: 5_000 }), ping(699, { speed: 0, north: 5_000 })];
      expect(tripsOf(pings)).toEqual({ 20: ['route_started 10'] });
      expect(tripsOf([...pings, ping(700, { speed: 0, north: 5_900 })])[700]).toEqual([
        'route_finished 400',
        'stop_started 400',
      ]);
    });

    it('does not finish at a ping of 3 km/h', () => {
      const pings = [...begins, ping(250, { speed: 3, north: 1_000 }), ping(400, { speed: 0, north: 1_000 })];
      expect(tripsOf(pings)).toEqual({ 20: ['route_started 10'] });
    });

    it('finishes the same with a restart from the saved state in between', () => {
      const pings = [...begins, ping(400, { speed: 0, north: 5_000 })];
      const saved = JSON.parse(JSON.stringify(travel(begins).state)) as ReturnType<typeof travel>['state'];
      expect(travel(pings.slice(4), saved).decisions).toEqual(travel(pings).decisions.slice(4));
    });
  });

  it('leaves out the drift of the standing', () => {
    const drift = Array.from({ length: 30 }, (_, i) => ping(40 + i * 10, { speed: 0, north: 300 + (i % 2) * 90 }));
    expect(finished([...setOff, ping(30, { speed: 0, north: 300 }), ...drift])).toMatchObject({
      endLocation: north(300),
      distanceInMeters: 200,
    });
  });
});

describe('a route that ends by a gap', () => {
  it('finishes after 3,600 s, at the last ping before the gap, when the next one comes', () => {
    expect(tripsOf([...setOff, ping(3_619.999, { speed: 40 })])).toEqual({ 20: ['route_started 10'] });
    expect(tripsOf([...setOff, ping(3_620, { speed: 40 })])).toEqual({
      20: ['route_started 10'],
      3620: ['route_finished 20', 'stop_started 20'],
    });
  });

  it('finishes by a gap in the fixes, though pings without any keep coming', () => {
    const lost = Array.from({ length: 60 }, (_, i) => ping(80 + i * 60, { lost: true }));
    expect(tripsOf([...setOff, ...lost])[3_620]).toEqual(['route_finished 20', 'stop_started 20']);
  });

  it('finishes even if the vehicle stood before and after the gap', () => {
    const pings = [
      ...setOff,
      ping(60, { speed: 0, north: 600 }),
      ping(80, { speed: 0, north: 600 }),
      ping(9_000, { speed: 0, north: 600 }),
    ];
    expect(tripsOf(pings)[9_000]).toEqual(['route_finished 80', 'stop_started 80']);
    const place = { ...north(600), locationTime: second(60) };
    expect(tripEvents(pings).slice(1)).toMatchObject([
      { ...place, endReason: 'no_data', idleTimeInSeconds: 20 },
      place,
    ]);
  });

  it('is followed by another if the vehicle drives on', () => {
    const pings = [...setOff, ping(4_000, { speed: 40, north: 9_000 }), ping(4_010, { speed: 40, north: 9_100 })];
    expect(tripsOf(pings)[4_010]).toEqual(['stop_finished 4000', 'route_started 4000']);
  });
});

describe('a stop', () => {
  it('lasts from the end of a route to the start of the next, through silence and drift', () => {
    const pings = [
      ...setOff,
      ping(40, { ignition: false, speed: 0, north: 400 }),
      ping(90, { north: 450 }),
      ping(90_000, { north: 390, ignition: true, speed: 0 }),
      ping(90_010, { north: 420, speed: 20 }),
      ping(90_020, { north: 500, speed: 30 }),
    ];
    expect(tripsOf(pings)).toEqual({
      20: ['route_started 10'],
      90: ['route_finished 40', 'stop_started 40'],
      90020: ['stop_finished 90010', 'route_started 90010'],
    });
  });

  it('makes no event if the device is first seen in it, since its beginning is unknown', () => {
    expect(tripsOf([ping(0, { speed: 0 }), ping(9_000, { speed: 0 })])).toEqual({});
  });
});
