import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { NOON, pingOf } from '../../../../test/support/samples.js';
import { MAX_AHEAD_MS } from '../ping/future-ping.js';
import { hasValidFix } from '../ping/valid-fix.js';
import type { FleetEvent } from '../records/fleet-event.js';
import type { TelemetryPing } from '../records/telemetry-ping.js';
import { type Journey, travel, travelRecorded } from '../testing/journey.js';
import { isAccepted } from './decide-ping.js';
import { POSITION_WINDOW_MS } from './rule-settings.js';

/** Steps around the window's edge, a few of them backwards or of nothing: late pings and duplicates. */
const stepMs = fc.oneof(
  fc.constantFrom(0, -1, 1, POSITION_WINDOW_MS - 1, POSITION_WINDOW_MS, POSITION_WINDOW_MS + 1),
  fc.integer({ min: -100_000, max: 200_000 }),
);

const step = fc.record({
  stepMs,
  ignition: fc.option(fc.boolean()),
  positionValid: fc.boolean(),
  latitude: fc.option(fc.constantFrom(0, 45, 90, 91)),
  longitude: fc.option(fc.constantFrom(0, 45, -180, 181)),
});

const journeys = fc.array(step, { maxLength: 60 }).map((steps) => {
  let eventTime = NOON;
  return steps.map(({ stepMs: ms, ...fields }): TelemetryPing => {
    eventTime += ms;
    return pingOf({ ...fields, eventTime });
  });
});

function eventsOf(journey: Journey): FleetEvent[] {
  return journey.decisions.flatMap((decision) => (decision.type === 'accepted' ? decision.events : []));
}

/** Events at the time of their ping; those of geofences, routes and stops have a resource. */
function pingEventsOf(journey: Journey): FleetEvent[] {
  return eventsOf(journey).filter((event) => event.resourceId === null);
}

function isPosition(event: FleetEvent): boolean {
  return event.eventType.startsWith('position');
}

describe('on any journey', () => {
  it('positions are a window apart, unless the ignition changed in between', () => {
    fc.assert(
      fc.property(journeys, (pings) => {
        let lastSentTime = -Infinity;
        let changed = false;
        for (const event of pingEventsOf(travel(pings))) {
          if (!isPosition(event)) {
            changed = true;
            continue;
          }
          expect(changed || event.eventTime - lastSentTime >= POSITION_WINDOW_MS).toBe(true);
          [lastSentTime, changed] = [event.eventTime, false];
        }
      }),
    );
  });

  it('ignition events alternate, and each says its own state', () => {
    fc.assert(
      fc.property(journeys, (pings) => {
        const changes = pingEventsOf(travel(pings)).filter((event) => !isPosition(event));
        changes.forEach((event, index) => {
          expect(event.eventType).toBe(event.ignition === true ? 'ignition_on' : 'ignition_off');
          expect(event.ignition).not.toBe(changes[index - 1]?.ignition);
        });
      }),
    );
  });

  it('times of positions and ignition changes never go back', () => {
    fc.assert(
      fc.property(journeys, (pings) => {
        const times = pingEventsOf(travel(pings)).map((event) => event.eventTime);
        expect(times).toEqual([...times].sort((left, right) => left - right));
      }),
    );
  });

  it('pings of clocks that are too far ahead, in whichever of their times, change nothing (R-3)', () => {
    const wrong = fc.record({
      position: fc.nat(60),
      appendedAt: fc.integer({ min: NOON - 6_000_000, max: NOON + 12_000_000 }),
      aheadMs: fc.integer({ min: MAX_AHEAD_MS + 1, max: 400 * 86_400_000 }),
      receivedLaterMs: fc.integer({ min: -MAX_AHEAD_MS, max: 400 * 86_400_000 }),
    });
    fc.assert(
      fc.property(journeys, fc.array(wrong, { minLength: 1, maxLength: 8 }), (pings, ofWrongClocks) => {
        const recorded = pings.map((ping) => ({ ping, appendedAt: ping.receivedTime }));
        const disturbed: typeof recorded = [...recorded];
        for (const { position, appendedAt, aheadMs, receivedLaterMs } of ofWrongClocks) {
          const eventTime = appendedAt + aheadMs;
          const ping = pingOf({ eventTime, receivedTime: eventTime + receivedLaterMs });
          disturbed.splice(position, 0, { ping, appendedAt });
        }
        const decided = travelRecorded(disturbed);
        expect(decided.state).toEqual(travel(pings).state);
        const others = decided.decisions.filter(({ type }) => type !== 'rejected');
        expect(others).toEqual(travel(pings).decisions);
        expect(decided.decisions).toHaveLength(others.length + ofWrongClocks.length);
      }),
    );
  });

  it('never gives two events the same type, time and resource: eventIds stay apart', () => {
    fc.assert(
      fc.property(journeys, (pings) => {
        const events = eventsOf(travel(pings));
        const keys = events.map(({ eventType, eventTime, resourceId }) => [eventType, eventTime, resourceId].join());
        expect(new Set(keys).size).toBe(events.length);
      }),
    );
  });

  it('an event has a locationTime exactly when its fix is older', () => {
    fc.assert(
      fc.property(journeys, (pings) => {
        let last: TelemetryPing | null = null;
        travel(pings).decisions.forEach((decision, index) => {
          const ping = pings[index];
          if (ping === undefined || !isAccepted(decision)) return;
          if (hasValidFix(ping)) last = ping;
          const place = {
            locationTime: last === null || last === ping ? null : last.eventTime,
            latitude: last?.latitude ?? null,
            longitude: last?.longitude ?? null,
          };
          // Those of routes and stops are of other times; decide-route.property.spec.ts looks at them.
          for (const event of decision.events) if (event.resourceId === null) expect(event).toMatchObject(place);
        });
      }),
    );
  });

  it('a stop and a restart from the saved state anywhere change nothing', () => {
    fc.assert(
      fc.property(journeys, fc.nat(60), (pings, cut) => {
        const first = travel(pings.slice(0, cut));
        const saved: unknown = JSON.parse(JSON.stringify(first.state));
        const second = travel(pings.slice(cut), saved as Journey['state']);

        expect([...first.decisions, ...second.decisions]).toEqual(travel(pings).decisions);
      }),
    );
  });

  it('running it again over the state that it left makes no event', () => {
    fc.assert(
      fc.property(journeys, (pings) => {
        const { state } = travel(pings);
        expect(eventsOf(travel(pings, state))).toEqual([]);
      }),
    );
  });

  it('dropping the late and repeated pings beforehand gives the same events', () => {
    fc.assert(
      fc.property(journeys, (pings) => {
        let newest = -Infinity;
        const inOrder = pings.filter((ping) => {
          const newer = ping.eventTime > newest;
          newest = Math.max(newest, ping.eventTime);
          return newer;
        });
        expect(eventsOf(travel(inOrder))).toEqual(eventsOf(travel(pings)));
      }),
    );
  });
});
