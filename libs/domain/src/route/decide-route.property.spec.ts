import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { groupBy } from '../../../../test/support/group-by.js';
import { plainRoutes, type PlainTripEvent, type TrackPing } from '../../../../test/support/plain-routes.js';
import type { PlainPing } from '../../../../test/support/plain-rules.js';
import { readTrack, recordedTracks } from '../../../../test/support/recorded-tracks.js';
import { NOON, pingOf } from '../../../../test/support/samples.js';
import { hasValidFix } from '../ping/valid-fix.js';
import type { FleetEvent } from '../records/fleet-event.js';
import type { TelemetryPing } from '../records/telemetry-ping.js';
import { type Journey, travel } from '../testing/journey.js';
import { north } from '../testing/track.js';

/** Around every threshold of R-9, and now and then backwards. */
const stepMs = fc.oneof(
  { weight: 20, arbitrary: fc.integer({ min: 1_000, max: 90_000 }) },
  { weight: 6, arbitrary: fc.constantFrom(29_999, 30_000, 299_999, 300_000, 300_001) },
  { weight: 2, arbitrary: fc.constantFrom(3_599_999, 3_600_000, -1, 0) },
);
const speed = fc.oneof(
  { weight: 10, arbitrary: fc.double({ min: 0, max: 130, noNaN: true }) },
  { weight: 10, arbitrary: fc.constantFrom(0, 2.99, 3, 4.99, 5) },
  { weight: 4, arbitrary: fc.constant(null) },
  { weight: 1, arbitrary: fc.constantFrom(-1, 250.1, 410.38, NaN) },
);
const hopInMeters = fc.oneof(
  { weight: 10, arbitrary: fc.integer({ min: -60, max: 60 }) },
  { weight: 10, arbitrary: fc.integer({ min: -900, max: 900 }) },
  { weight: 1, arbitrary: fc.constantFrom(-30_000, 30_000) },
);

/** Spells of the same kind, so that routes and stops come about. */
const spell = fc.tuple(
  fc.array(fc.record({ stepMs, speed, hopInMeters, lost: fc.integer({ min: 0, max: 9 }) }), { maxLength: 12 }),
  fc.constantFrom('driving', 'standing', 'anything'),
  fc.constantFrom(true, false, null),
);

const tracks = fc.array(spell, { maxLength: 12, size: 'max' }).map((spells) => {
  const pings: TelemetryPing[] = [];
  let [eventTime, meters] = [NOON, 0];
  for (const [steps, kind, ignition] of spells) {
    for (const step of steps) {
      eventTime += step.stepMs;
      if (kind !== 'standing') meters += step.hopInMeters;
      const speedInKmh = kind === 'driving' ? 40 : kind === 'standing' ? 0 : step.speed;
      pings.push(pingOf({ ...north(meters), eventTime, speedInKmh, ignition, positionValid: step.lost > 0 }));
    }
  }
  return pings;
});

/** Now and then a fix, and a key that goes on and off: often enough between the two pings that begin a route. */
const keyedTracks = fc
  .array(
    fc.record({
      stepMs: fc.constantFrom(1_000, 14_999, 15_000, 29_999, 30_000, 40_000),
      speed: fc.constantFrom(40, 40, 40, 0, null),
      hopInMeters: fc.integer({ min: -300, max: 300 }),
      lost: fc.boolean(),
      ignition: fc.constantFrom(true, false, null),
    }),
    { minLength: 5, maxLength: 40 },
  )
  .map((steps) => {
    let [eventTime, meters] = [NOON, 0];
    return steps.map(({ stepMs: ms, speed: speedInKmh, hopInMeters: hop, lost, ignition }) => {
      eventTime += ms;
      meters += hop;
      return pingOf({ ...north(meters), eventTime, speedInKmh, ignition, positionValid: !lost });
    });
  });

/** A key that goes off shortly before a vehicle has stood, or been silent, for long enough. */
const parkedTracks = fc
  .array(
    fc.record({
      stepMs: fc.constantFrom(5_000, 14_999, 24_999, 29_999, 30_000, 250_000, 270_001, 3_575_000),
      speed: fc.constantFrom(0, 0, 0, 40, null),
      hopInMeters: fc.constantFrom(0, 0, 0, 150, -400),
      lost: fc.boolean(),
      ignition: fc.constantFrom(true, false, false, null),
    }),
    { minLength: 5, maxLength: 40 },
  )
  .map((steps) => {
    let [eventTime, meters] = [NOON, 0];
    return steps.map(({ stepMs: ms, speed: speedInKmh, hopInMeters: hop, lost, ignition }, index) => {
      eventTime += index < 2 ? 5_000 : ms;
      meters += hop;
      const moves = index < 2 ? { speedInKmh: 40, ignition: true, positionValid: true } : {};
      return pingOf({ ...north(meters), eventTime, speedInKmh, ignition, positionValid: !lost, ...moves });
    });
  });

/** Whether the ignition has been known to be off for less than 30 s. */
function isBrieflyOff(pings: readonly TelemetryPing[], time: number): boolean {
  const known = pings.filter(({ eventTime, ignition }) => eventTime <= time && ignition !== null);
  const lastOn = known.findLastIndex(({ ignition }) => ignition === true);
  const off = known[lastOn + 1];
  return off !== undefined && time - off.eventTime < 30_000;
}

interface Made {
  readonly ping: TelemetryPing;
  readonly event: FleetEvent;
}

function madeBy(pings: readonly TelemetryPing[], { decisions }: Journey): Made[] {
  return decisions.flatMap((decision, index) => {
    const ping = pings[index];
    if (decision.type !== 'accepted' || ping === undefined) return [];
    return decision.events.filter(({ resourceId }) => resourceId !== null).map((event) => ({ ping, event }));
  });
}

function tripEvents(pings: readonly TelemetryPing[]): Made[] {
  return madeBy(pings, travel(pings));
}

/** What the rules take, as the oracle reads it. */
function trackOf(pings: readonly TelemetryPing[]): TrackPing[] {
  let newest = -Infinity;
  return pings
    .filter(({ eventTime }) => {
      const taken = eventTime > newest;
      newest = Math.max(newest, eventTime);
      return taken;
    })
    .map((ping) => ({
      time: ping.eventTime,
      fix: hasValidFix(ping) ? { latitude: ping.latitude, longitude: ping.longitude } : undefined,
      speed: ping.speedInKmh ?? undefined,
      ignition: ping.ignition ?? undefined,
    }));
}

function seen({ ping, event }: Made): object {
  return {
    madeBy: ping.eventTime,
    eventType: event.eventType,
    eventTime: event.eventTime,
    startTime: event.startTime,
    place: { latitude: event.latitude, longitude: event.longitude },
    placeTime: event.locationTime ?? event.eventTime,
    ...(event.eventType === 'route_finished' && {
      figures: {
        from: event.startLocation,
        maxSpeed: event.maxSpeedInKmh ?? undefined,
        idleMs: event.idleTimeInSeconds === null ? undefined : Math.round(event.idleTimeInSeconds * 1_000),
        endReason: event.endReason,
      },
    }),
  };
}

function withoutMeters({ figures, ...event }: PlainTripEvent): object {
  if (figures === undefined) return event;
  const { meters: _, ...rest } = figures;
  return { ...event, figures: rest };
}

function expectAgreement(pings: readonly TelemetryPing[], events = tripEvents(pings)): PlainTripEvent[] {
  const expected = plainRoutes(trackOf(pings));
  expect(events.map(seen)).toEqual(expected.map(withoutMeters));
  expected.forEach(({ figures }, index) => {
    const meters = events[index]?.event.distanceInMeters ?? NaN;
    // To half a meter of rounding and the difference of two ways to measure.
    if (figures !== undefined) expect(Math.abs(meters - figures.meters)).toBeLessThan(0.51 + figures.meters * 1e-4);
  });
  return expected;
}

function expectOrder(events: readonly FleetEvent[]): void {
  const order = events.map(({ eventType }) => eventType);
  const cycle = ['route_started', 'route_finished', 'stop_started', 'stop_finished'];
  expect(order).toEqual(order.map((_, index) => cycle[index % 4]));
  events.forEach((event, index) => {
    const before = events[index - 1];
    if (before === undefined) return;
    expect(event.eventTime).toBeGreaterThanOrEqual(before.eventTime);
    // What began has ended under the same id, and the next thing begins where it ended.
    const pair = event.eventType.endsWith('_finished');
    expect(event.resourceId === before.resourceId).toBe(pair);
    if (!pair) expect([event.eventTime, event.latitude]).toEqual([before.eventTime, before.latitude]);
  });
}

describe('on any track, routes and stops', () => {
  it('are those of a second implementation that looks at the whole track', () => {
    const reasons = new Set<string>();
    fc.assert(
      fc.property(tracks, (pings) => {
        for (const { figures } of expectAgreement(pings)) if (figures) reasons.add(figures.endReason);
      }),
      { numRuns: 100 },
    );
    expect([...reasons].sort()).toEqual(['ignition_off', 'no_data', 'stationary']);
  });

  it('are the same where the ignition goes off before the ping that shows the route', () => {
    let [atOnce, later] = [0, 0];
    fc.assert(
      fc.property(keyedTracks, (pings) => {
        const events = expectAgreement(pings);
        expectOrder(tripEvents(pings).map(({ event }) => event));
        events.forEach(({ eventType, eventTime, madeBy, startTime }, index) => {
          if (eventType !== 'route_finished') return;
          const confirmedBy = events[index - 1]?.madeBy ?? NaN;
          if (madeBy === confirmedBy) atOnce++;
          else if (eventTime > startTime && eventTime < confirmedBy) later++;
        });
      }),
      { numRuns: 500 },
    );
    expect(Math.min(atOnce, later)).toBeGreaterThan(20);
  });

  it('are the same where standing or a gap is long enough just after the ignition goes off', () => {
    const found = { ignition_off: 0, no_data: 0, stationary: 0 };
    fc.assert(
      fc.property(parkedTracks, (pings) => {
        const events = expectAgreement(pings);
        expectOrder(tripEvents(pings).map(({ event }) => event));
        for (const { madeBy, figures } of events) {
          if (figures && isBrieflyOff(pings, madeBy)) found[figures.endReason as keyof typeof found]++;
        }
      }),
      { numRuns: 500 },
    );
    expect(Math.min(found.no_data, found.stationary)).toBeGreaterThan(20);
  });

  it('alternate without a gap, each with its own id', () => {
    fc.assert(
      fc.property(tracks, (pings) => {
        const events = tripEvents(pings).map(({ event }) => event);
        expectOrder(events);
        expect(new Set(events.map(({ resourceId }) => resourceId)).size).toBe(Math.ceil(events.length / 2));
      }),
    );
  });

  it('happen before the ping that shows them, and never before the beginning of what they end', () => {
    fc.assert(
      fc.property(tracks, (pings) => {
        for (const { ping, event } of tripEvents(pings)) {
          expect(event.eventTime).toBeLessThan(ping.eventTime);
          if (event.durationInSeconds !== null) expect(event.durationInSeconds).toBeGreaterThan(0);
          expect(event.idleTimeInSeconds ?? 0).toBeLessThanOrEqual(event.durationInSeconds ?? 0);
        }
      }),
    );
  });

  it('are the same after a stop and a restart from the saved state anywhere', () => {
    fc.assert(
      fc.property(tracks, fc.nat(140), (pings, cut) => {
        const first = travel(pings.slice(0, cut));
        const saved = JSON.parse(JSON.stringify(first.state)) as Journey['state'];
        const second = travel(pings.slice(cut), saved);
        expect([...madeBy(pings.slice(0, cut), first), ...madeBy(pings.slice(cut), second)]).toEqual(tripEvents(pings));
      }),
    );
  });
});

function pingOfLine(line: PlainPing): TelemetryPing {
  return pingOf({
    deviceId: line.deviceId,
    eventTime: Date.parse(line.eventTime),
    positionValid: line.latitude !== undefined,
    latitude: line.latitude ?? null,
    longitude: line.longitude ?? null,
    speedInKmh: line.speedKmh ?? null,
    ignition: line.ignition ?? null,
  });
}

describe('on recorded tracks, routes and stops', () => {
  // The others only in `npm run test:long`.
  const isLong = process.env['WAYPOST_LONG_TESTS'] !== undefined;
  const found = recordedTracks().filter(({ name }) => isLong || name.includes('2015'));
  // Recordings lie beside the checkout, where there are any.
  const named: readonly { readonly name: string; readonly file: string | null }[] =
    found.length > 0 ? found : [{ name: 'none at hand', file: null }];

  it.each(named)('are those of the second implementation: $name', ({ file }) => {
    const lines = file === null ? [] : readTrack(file);
    let routes = 0;
    for (const [, own] of groupBy(lines, ({ deviceId }) => deviceId)) {
      const pings = own.map(pingOfLine);
      const events = tripEvents(pings);
      expectOrder(events.map(({ event }) => event));
      routes += expectAgreement(pings, events).filter(({ eventType }) => eventType === 'route_finished').length;
    }
    if (file !== null) expect(routes).toBeGreaterThan(0);
  });
});
