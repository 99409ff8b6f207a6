import { describe, expect, it } from '@jest/globals';
import { NOON, pingOf } from '../../../../test/support/samples.js';
import { serializeEnvelope } from '../event/envelope.js';
import { createGeofenceHistory } from '../geofence/geofence-history.js';
import { geofenceKey } from '../geofence/geofence-key.js';
import { circleFence } from '../geofence/testing/geofences.js';
import type { DeviceState } from '../records/device-state.js';
import type { FleetEvent } from '../records/fleet-event.js';
import type { TelemetryPing } from '../records/telemetry-ping.js';
import { outcomes, travel } from '../testing/journey.js';
import { decidePing, isAccepted } from './decide-ping.js';
import { evolveDevice } from './evolve-device.js';
import { DEFAULT_RULE_SETTINGS } from './rule-settings.js';

/** A ping so many seconds after noon. */
function at(seconds: number, fields: Partial<TelemetryPing> = {}): TelemetryPing {
  return pingOf({ eventTime: NOON + seconds * 1000, ...fields });
}

const lostFix = { positionValid: false, latitude: null, longitude: null };

describe('ignition (R-6)', () => {
  it('takes the first known state for no change', () => {
    expect(outcomes(travel([at(0), at(1, { ignition: true }), at(2, { ignition: true })]))).toEqual([
      ['position'],
      [],
      [],
    ]);
  });

  it('sends a change at once with the following position, and restarts the window', () => {
    const journey = travel([
      at(0, { ignition: true }),
      at(1, { ignition: false }),
      at(2, { ignition: true }),
      at(181, {}),
      at(182, {}),
    ]);

    expect(outcomes(journey)).toEqual([
      ['position'],
      ['ignition_off', 'position_sleep'],
      ['ignition_on', 'position'],
      [],
      ['position'],
    ]);
  });

  it('carries the last known state over pings that report none', () => {
    const journey = travel([
      at(0, { ignition: false }),
      at(1),
      at(2),
      at(3, { ignition: false }),
      at(4, { ignition: true }),
    ]);

    expect(outcomes(journey)).toEqual([['position_sleep'], [], [], [], ['ignition_on', 'position']]);
  });

  it('counts from a ping without a fix too; the position follows with the next valid one, inside the window or not', () => {
    const journey = travel([
      at(0, { ignition: true }),
      at(10, { ignition: false, ...lostFix }),
      at(20, lostFix),
      at(30),
      at(40),
    ]);

    expect(outcomes(journey)).toEqual([['position'], ['ignition_off'], [], ['position_sleep'], []]);
    expect(journey.state).toMatchObject({ armed: false, lastSentTime: NOON + 30_000 });
  });

  it('stays armed when the ignition changes again before a fix comes back', () => {
    const journey = travel([
      at(0, { ignition: true }),
      at(10, { ignition: false, ...lostFix }),
      at(20, { ignition: true, ...lostFix }),
      at(30),
      at(40),
    ]);

    expect(outcomes(journey)).toEqual([['position'], ['ignition_off'], ['ignition_on'], ['position'], []]);
  });

  it('learns the first state from a ping without a fix', () => {
    const journey = travel([at(0, { ignition: false, ...lostFix }), at(10, { ignition: true })]);

    expect(outcomes(journey)).toEqual([[], ['ignition_on', 'position']]);
  });

  it.each([
    ['ignition_on', false, true],
    ['ignition_off', true, false],
  ])('shows in %s and in the position after it the state after the change', (_, before, after) => {
    const { decisions } = travel([at(0, { ignition: before }), at(1, { ignition: after })]);

    expect(decisions[1]).toMatchObject({ events: [{ ignition: after }, { ignition: after }] });
  });
});

describe('the location of an ignition event (R-6)', () => {
  it("is the ping's own, without a locationTime, when its fix is valid", () => {
    const { decisions } = travel([at(0, { ignition: true }), at(1, { ignition: false, latitude: 10, longitude: 20 })]);

    expect(decisions[1]).toMatchObject({ events: [{ latitude: 10, longitude: 20, locationTime: null }, {}] });
  });

  it('is the last valid one with its time when the fix is not, whatever the ping says', () => {
    const { decisions } = travel([
      at(0, { ignition: true, latitude: 1, longitude: 2 }),
      at(30, { latitude: 3, longitude: 4 }),
      at(60, { positionValid: false, latitude: 5, longitude: 6 }),
      at(90, { ignition: false, positionValid: false, latitude: 7, longitude: 8 }),
    ]);

    expect(decisions[3]).toMatchObject({
      events: [{ eventType: 'ignition_off', latitude: 3, longitude: 4, locationTime: NOON + 30_000 }],
    });
  });

  it('is unknown when there never was a valid fix', () => {
    const { decisions } = travel([at(0, { ignition: true, ...lostFix }), at(1, { ignition: false, ...lostFix })]);

    expect(decisions[1]).toMatchObject({
      events: [{ eventType: 'ignition_off', latitude: null, longitude: null, locationTime: null }],
    });
  });
});

describe('geofences that are not looked at for a while (R-8)', () => {
  const depot = circleFence({ latitude: 52.1, longitude: 4.9, radiusInMeters: 500 }, { geofenceId: 'depot' });
  const far = { latitude: 53 };

  /** Once the depot is known; the seconds in between without a look. */
  function lookedAtAgain(before: TelemetryPing, between: TelemetryPing, after: readonly TelemetryPing[]): string[][] {
    const history = createGeofenceHistory();
    history.record(geofenceKey(depot), depot, 0);
    const view = { fleet: history.fleet(depot.fleetId) };
    let { state } = travel([at(0, far)]);
    const take = (ping: TelemetryPing, seen: typeof view | null): string[] => {
      const decision = decidePing(state, ping, ping.receivedTime, DEFAULT_RULE_SETTINGS, seen);
      if (!isAccepted(decision)) throw new Error(decision.type);
      state = evolveDevice(state, ping, decision);
      return decision.events.map(({ eventType }) => eventType).filter((type) => type.startsWith('geofence'));
    };
    expect(take(at(1, far), view)).toEqual([]);
    take(before, view);
    take(between, null);
    return after.map((ping) => take(ping, view));
  }

  it('set silently where the device is: it came in meanwhile, or it left', () => {
    expect(lookedAtAgain(at(10, far), at(20), [at(30), at(40, far), at(50, far)])).toEqual([[], [], ['geofence_out']]);
    expect(lookedAtAgain(at(10), at(20, far), [at(30, far), at(40, far), at(50)])).toEqual([[], [], ['geofence_in']]);
  });

  it('count from the first valid fix, even if pings in between had none', () => {
    expect(lookedAtAgain(at(10, far), at(20, lostFix), [at(30, lostFix), at(40)])).toEqual([[], []]);
  });
});

describe('the events of one ping', () => {
  const away = { latitude: 52.2, longitude: 4.9 };
  const home = { latitude: 52.1, longitude: 4.9 };
  const [yard, hall, market, quay] = (
    [
      ['yard', home],
      ['hall', home],
      ['market', away],
      ['quay', away],
    ] as const
  ).map(([geofenceId, place]) => circleFence({ ...place, radiusInMeters: 500 }, { geofenceId }));

  /** Every ping with its fences looked at; the events of each. */
  function drive(pings: readonly TelemetryPing[]): (readonly FleetEvent[])[] {
    const history = createGeofenceHistory();
    for (const fence of [yard, hall, market, quay]) if (fence) history.record(geofenceKey(fence), fence, 0);
    const view = { fleet: history.fleet('fleet-1') };
    let state: DeviceState | null = null;
    return pings.map((ping) => {
      const decision = decidePing(state, ping, ping.receivedTime, DEFAULT_RULE_SETTINGS, view);
      if (!isAccepted(decision)) throw new Error(decision.type);
      state = evolveDevice(state, ping, decision);
      return decision.events;
    });
  }
  function named(events: readonly FleetEvent[] | undefined): string[] {
    return (events ?? []).map(({ eventType, geofenceId }) =>
      geofenceId === null ? eventType : `${eventType} ${geofenceId}`,
    );
  }
  const away30 = { latitude: 52.15, longitude: 4.9 };

  it('come as ignition, geofence_out, geofence_in, stop_finished, route_started, position (R-10)', () => {
    const events = drive([
      at(0, { ...away30, speedInKmh: 60, ignition: true }),
      at(10, { ...away30, speedInKmh: 60 }),
      at(20, { ...home, speedInKmh: 60 }),
      at(30, { ...home, speedInKmh: 0, ignition: false }),
      at(100, { ...home, speedInKmh: 0 }),
      at(400, { ...away30, speedInKmh: 60 }),
      at(700, { ...away, speedInKmh: 60, ignition: true }),
    ]);

    expect(named(events[2])).toEqual(['geofence_in hall', 'geofence_in yard']);
    expect(named(events.at(-1))).toEqual([
      'ignition_on',
      'geofence_out hall',
      'geofence_out yard',
      'geofence_in market',
      'geofence_in quay',
      'stop_finished',
      'route_started',
      'position',
    ]);
  });

  it('come as ignition, geofence_out, geofence_in, route_finished, stop_started, position (R-10)', () => {
    const events = drive([
      at(0, { ...away30, speedInKmh: 60, ignition: true }),
      at(10, { ...away30, speedInKmh: 60 }),
      at(20, { ...home, speedInKmh: 60 }),
      at(30, { ...home, speedInKmh: 0, ignition: false }),
      at(50, { ...away30, speedInKmh: 0 }),
      at(200, { ...away, speedInKmh: 0, ignition: true }),
    ]);

    expect(named(events.at(-1))).toEqual([
      'ignition_on',
      'geofence_out hall',
      'geofence_out yard',
      'geofence_in market',
      'geofence_in quay',
      'route_finished',
      'stop_started',
      'position',
    ]);
  });

  it('say of a geofence that was left when it was entered and how long that was, when this is known (R-13)', () => {
    const seen = drive([at(0, away), at(10, home), at(100, home), at(200.5, away30), at(300.25, away)]);
    const [left, entered] = [seen.at(-1)?.[0], seen[1]?.[0]].map((event) =>
      event === undefined ? undefined : (JSON.parse(serializeEnvelope(event, 'id')) as object),
    );
    const unseen = drive([at(0, home), at(10, away30), at(20, away30)]).at(-1)?.[0];

    expect(entered).toEqual({
      eventId: 'id',
      eventTime: '2024-05-01T12:00:10.000Z',
      eventType: 'geofence_in',
      eventData: {
        deviceId: 'device-1',
        fleetId: 'fleet-1',
        ...home,
        geofenceId: 'hall',
        geofenceName: 'the hall',
      },
    });
    expect(left).toEqual({
      eventId: 'id',
      eventTime: '2024-05-01T12:05:00.250Z',
      eventType: 'geofence_out',
      eventData: {
        deviceId: 'device-1',
        fleetId: 'fleet-1',
        ...away,
        geofenceId: 'hall',
        geofenceName: 'the hall',
        enteredAt: '2024-05-01T12:00:10.000Z',
        durationInSeconds: 290.25,
      },
    });
    expect(unseen).toMatchObject({ eventType: 'geofence_out', enteredAt: null, durationInSeconds: null });
  });
});

describe('the state of a device', () => {
  it('remembers the newest ping, the ignition, the last position sent, the last valid fix and the trip', () => {
    const expected: DeviceState = {
      newestEventTime: NOON + 20_000,
      ignition: false,
      lastSentTime: NOON,
      armed: true,
      fixTime: NOON + 10_000,
      latitude: 3,
      longitude: 4,
      geofences: null,
      trip: {
        since: null,
        latitude: 52.1,
        longitude: 4.9,
        moving: true,
        maxSpeedInKmh: null,
        route: null,
        ignitionOffSince: NOON + 20_000,
      },
    };
    const journey = travel([
      at(0, { ignition: true }),
      at(10, { latitude: 3, longitude: 4 }),
      at(20, { ignition: false, ...lostFix }),
    ]);

    expect(journey.state).toEqual(expected);
  });

  it('remembers on a route what it needs to go on, and nothing of the stop before', () => {
    const journey = travel([at(0, { speedInKmh: 20 }), at(10, { speedInKmh: 30 }), at(20, { speedInKmh: 25 })]);

    expect(journey.state?.trip).toEqual({
      since: NOON,
      latitude: 52.1,
      longitude: 4.9,
      moving: false,
      maxSpeedInKmh: 30,
      ignitionOffSince: null,
      route: {
        wayTime: NOON + 20_000,
        wayLatitude: 52.1,
        wayLongitude: 4.9,
        distanceInMeters: 0,
        idleMs: 0,
        standing: false,
        wayWithoutSpeed: false,
        ignitionOffSince: null,
      },
    });
  });

  it('is never changed in place', () => {
    const state = Object.freeze(travel([at(0, { ignition: true })]).state);

    expect(outcomes(travel([at(1, { ignition: false })], state))).toEqual([['ignition_off', 'position_sleep']]);
  });
});
