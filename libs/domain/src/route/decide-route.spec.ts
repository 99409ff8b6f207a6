import { describe, expect, it } from '@jest/globals';
import type { FleetEvent } from '../records/fleet-event.js';
import type { TelemetryPing } from '../records/telemetry-ping.js';
import { travel } from '../testing/journey.js';
import { north, ping, second } from '../testing/track.js';

/** Of routes and stops, each with the second at which it happened, by the ping that made it. */
function tripsOf(pings: readonly TelemetryPing[]): Record<number, string[]> {
  const found: Record<number, string[]> = {};
  travel(pings).decisions.forEach((decision, index) => {
    const at = ((pings[index]?.eventTime ?? NaN) - second(0)) / 1_000;
    if (decision.type !== 'accepted') return;
    const events = decision.events.filter(isTripEvent);
    if (events.length > 0) found[at] = events.map((event) => `${event.eventType} ${String(secondOf(event))}`);
  });
  return found;
}

function isTripEvent({ eventType }: FleetEvent): boolean {
  return /^(route|stop)_/.test(eventType);
}

function secondOf({ eventTime }: FleetEvent): number {
  return (eventTime - second(0)) / 1_000;
}

function tripEvents(pings: readonly TelemetryPing[]): FleetEvent[] {
  return travel(pings).decisions.flatMap((decision) =>
    decision.type === 'accepted' ? decision.events.filter(isTripEvent) : [],
  );
}

function finished(pings: readonly TelemetryPing[]): FleetEvent | undefined {
  return tripEvents(pings).find(({ eventType }) => eventType === 'route_finished');
}

/** On the road since second 10, as second 20 shows: 40 km/h, 11.1 m a second. */
const setOff: readonly TelemetryPing[] = [
  ping(0, { speed: 0, ignition: true }),
  ping(10, { speed: 40, north: 100 }),
  ping(20, { speed: 40, north: 211 }),
];

describe('a route starts', () => {
  it('at the first of 2 consecutive pings of 5 km/h or more', () => {
    expect(tripsOf([ping(0, { speed: 0 }), ping(10, { speed: 5 }), ping(20, { speed: 5 })])).toEqual({
      20: ['route_started 10'],
    });
  });

  it('with the first two pings of a device that is first seen on the move', () => {
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
  ])('not by %s', (_what, pings) => expect(tripsOf([ping(0, { speed: 0 }), ...pings])).toEqual({}));

  it('at the first of 2 consecutive pings 200 m or more from the stop point, at no speed and without one', () => {
    const pings = (speed?: number): TelemetryPing[] => [
      ping(0),
      ping(60, { north: 190 }),
      ping(120, { north: 201, ...(speed === undefined ? {} : { speed }) }),
      ping(180, { north: 210, ...(speed === undefined ? {} : { speed }) }),
    ];
    expect(tripsOf(pings())).toEqual({ 180: ['route_started 120'] });
    expect(tripsOf(pings(0))).toEqual({ 180: ['route_started 120'] });
  });

  it('by one ping at speed and one at a distance', () => {
    expect(tripsOf([ping(0), ping(60, { speed: 9, north: 90 }), ping(120, { speed: 0, north: 300 })])).toEqual({
      120: ['route_started 60'],
    });
  });

  it('over pings without a valid fix, which are neither moving nor still', () => {
    const pings = [ping(0), ping(10, { speed: 30 }), ping(20, { lost: true, speed: 0 }), ping(30, { speed: 30 })];
    expect(tripsOf(pings)).toEqual({ 30: ['route_started 10'] });
  });

  it('at its first valid fix at the earliest, however fast the pings before were', () => {
    expect(tripsOf([ping(0, { lost: true, speed: 50 }), ping(10, { speed: 50 })])).toEqual({});
  });

  it('whatever the ignition: a towed vehicle drives as well', () => {
    const pings = [
      ping(0, { ignition: false }),
      ping(10, { speed: 60 }),
      ping(20, { speed: 60 }),
      ping(90, { speed: 60 }),
    ];
    expect(tripsOf(pings)).toEqual({ 20: ['route_started 10'] });
  });
});

describe('a route finishes with the ignition', () => {
  it.each([
    ['still off after 30 s', ping(70)],
    ['still off, as far as is known, after 30 s', ping(70, { lost: true })],
    ['on again after 30 s or more', ping(70, { ignition: true, speed: 50 })],
    ['on again after hours of silence', ping(30_000, { ignition: true })],
  ])('%s: when it went off', (_what, last) => {
    const pings = [...setOff, ping(40, { ignition: false, speed: 8, north: 400 }), last];
    const at = (last.eventTime - second(0)) / 1_000;
    expect(tripsOf(pings)[at]).toEqual(['route_finished 40', 'stop_started 40']);
  });

  it('that goes off on an invalid fix, at the last valid place', () => {
    const pings = [...setOff, ping(40, { ignition: false, lost: true }), ping(71, { lost: true })];
    expect(tripsOf(pings)[71]).toEqual(['route_finished 40', 'stop_started 40']);
    const place = { ...north(211), locationTime: second(20) };
    expect(tripEvents(pings).slice(1)).toMatchObject([{ ...place, endLocation: north(211) }, place]);
  });

  it('that is known for the first time, and off', () => {
    const pings = [ping(0), ping(10, { speed: 40 }), ping(20, { speed: 40 }), ping(30, { ignition: false }), ping(60)];
    expect(tripsOf(pings)[60]).toEqual(['route_finished 30', 'stop_started 30']);
  });

  it.each([
    ['29.999 s', [ping(40, { ignition: false }), ping(69.999, { ignition: true, speed: 40 })]],
    ['a while, again and again', flaps(40, 20, 2_000)],
  ])('not when it was off for %s only', (_what, pings) => {
    expect(tripsOf([...setOff, ...pings])).toEqual({ 20: ['route_started 10'] });
  });

  it('not when it was off before the route began', () => {
    const pings = [
      ping(0, { ignition: false }),
      ping(10, { speed: 60 }),
      ping(20, { speed: 60 }),
      ping(600, { speed: 60 }),
    ];
    expect(tripsOf(pings)).toEqual({ 20: ['route_started 10'] });
  });

  describe('that goes off between the two pings that begin it, on one without a fix', () => {
    const begins = [ping(0, { speed: 0, ignition: true }), ping(10, { speed: 40, north: 100 })];
    const off = ping(15, { lost: true, ignition: false });

    it.each([
      [
        'and stays off through pings without a fix',
        [ping(20, { speed: 40, north: 200 }), ping(45, { lost: true })],
        45,
      ],
      ['and stays off on the way', [ping(20, { speed: 40 }), ping(30, { speed: 40 }), ping(46, { speed: 40 })], 46],
      ['and is on again after 30 s', [ping(20, { speed: 40 }), ping(50, { speed: 40, ignition: true })], 50],
    ])('%s: when it went off', (_what, then, at) => {
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
    ])('at once when the second ping comes 30 s later, and it %s', (_what, between) => {
      expect(tripsOf([...begins, off, ...between, ping(50, { speed: 40 })])).toEqual({
        50: ['route_started 10', 'route_finished 15', 'stop_started 15'],
      });
    });

    it.each([
      ['on again before the second ping', [ping(18, { lost: true, ignition: true }), ping(20, { speed: 40 })]],
      ['on again with the second ping', [ping(20, { speed: 40, ignition: true })]],
      ['on again after it', [ping(20, { speed: 40 }), ping(44.999, { speed: 40, ignition: true })]],
    ])('not when it is %s, within 30 s', (_what, then) => {
      expect(tripsOf([...begins, off, ...then, ping(90, { speed: 40 })])).toEqual({ 20: ['route_started 10'] });
    });

    it('not when the moving ping before it began nothing', () => {
      const wild = [...begins, off, ping(20, { speed: 0 })];
      const later = [ping(100, { speed: 40 }), ping(110, { speed: 40 }), ping(180, { speed: 40 })];
      expect(tripsOf([...wild, ...later])).toEqual({ 110: ['route_started 100'] });
    });

    it('also with a restart from the saved state in between', () => {
      const pings = [...begins, off, ping(20, { speed: 40 }), ping(45, { lost: true })];
      const saved = JSON.parse(JSON.stringify(travel(pings.slice(0, 3)).state)) as ReturnType<typeof travel>['state'];
      expect(travel(pings.slice(3), saved).decisions).toEqual(travel(pings).decisions.slice(3));
    });
  });

  it('and takes no ping that came after it was switched off', () => {
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

  describe('and that moves meanwhile', () => {
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

describe('a route finishes by standing', () => {
  it('for 300 s below 3 km/h, at the first still ping', () => {
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
  ])('counted from the start again after %s', (_what, between) => {
    const pings = [...setOff, ping(30, { speed: 0, north: 300 }), between, ping(340, { speed: 0, north: 501 })];
    expect(tripsOf(pings)).toEqual({ 20: ['route_started 10'] });
  });

  it('over pings without a valid fix, but not at one', () => {
    const pings = [...setOff, ping(30, { speed: 0 }), ping(200, { lost: true, speed: 90 }), ping(340, { lost: true })];
    expect(tripsOf(pings)).toEqual({ 20: ['route_started 10'] });
    expect(tripsOf([...pings, ping(350, { speed: 0 })])[350]).toEqual(['route_finished 30', 'stop_started 30']);
  });

  it('of a device that reports no speed, when it stays within 200 m', () => {
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

  it('with the drift of the standing left out', () => {
    const drift = Array.from({ length: 30 }, (_, i) => ping(40 + i * 10, { speed: 0, north: 300 + (i % 2) * 90 }));
    expect(finished([...setOff, ping(30, { speed: 0, north: 300 }), ...drift])).toMatchObject({
      endLocation: north(300),
      distanceInMeters: 200,
    });
  });
});

describe('a route finishes by a gap', () => {
  it('of 3,600 s, at the last ping before it, when the next one comes', () => {
    expect(tripsOf([...setOff, ping(3_619.999, { speed: 40 })])).toEqual({ 20: ['route_started 10'] });
    expect(tripsOf([...setOff, ping(3_620, { speed: 40 })])).toEqual({
      20: ['route_started 10'],
      3620: ['route_finished 20', 'stop_started 20'],
    });
  });

  it('in the fixes, though pings without any come all the time', () => {
    const lost = Array.from({ length: 60 }, (_, i) => ping(80 + i * 60, { lost: true }));
    expect(tripsOf([...setOff, ...lost])[3_620]).toEqual(['route_finished 20', 'stop_started 20']);
  });

  it('also when the vehicle stood before and after it', () => {
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

  it('and the vehicle that drives on after it starts another', () => {
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

  it('in which a device is first seen has no event, since its beginning is unknown', () => {
    expect(tripsOf([ping(0, { speed: 0 }), ping(9_000, { speed: 0 })])).toEqual({});
  });
});
