import { describe, expect, it } from '@jest/globals';
import { NOON, pingOf } from '../../../../test/support/samples.js';
import type { DeviceState } from '../records/device-state.js';
import type { TelemetryPing } from '../records/telemetry-ping.js';
import { outcomes, travel } from '../testing/journey.js';
import { decidePing, type PingDecision } from './decide-ping.js';

const DAY_MS = 86_400_000;

/** A ping so many seconds after noon. */
function at(seconds: number, fields: Partial<TelemetryPing> = {}): TelemetryPing {
  return pingOf({ eventTime: NOON + seconds * 1000, ...fields });
}

/** Appended when it was received, unless the test says otherwise. */
function decide(state: DeviceState | null, ping: TelemetryPing, appendedAt = ping.receivedTime): PingDecision {
  return decidePing(state, ping, appendedAt);
}

const lostFix = { positionValid: false, latitude: null, longitude: null };

describe('the order of pings (R-4)', () => {
  it('drops a ping with the time of the newest, whatever its other fields are', () => {
    const journey = travel([at(0, { ignition: true }), at(0, { ignition: false, latitude: 9 })]);

    expect(outcomes(journey)).toEqual([['position'], 'duplicate']);
    expect(journey.state).toMatchObject({ ignition: true, latitude: 52.1 });
  });

  it('keeps an older ping out of the state, also when it repeats an older one', () => {
    const journey = travel([at(0, { ignition: true }), at(100), at(0, { ignition: false }), at(99.999), at(101)]);

    expect(outcomes(journey)).toEqual([['position'], [], 'late', 'late', []]);
  });

  it('takes a ping without a fix for the newest like any other', () => {
    expect(outcomes(travel([at(10, lostFix), at(5), at(10)]))).toEqual([[], 'late', 'duplicate']);
  });
});

describe('the age of a ping (R-3)', () => {
  const hourMs = 3_600_000;

  it.each([
    ['as long ahead as allowed of both', 300_000, 300_000, 'accepted'],
    ['too far ahead of its reception', 300_001, 300_000, 'rejected'],
    ['too far ahead of its append', 300_000, 300_001, 'rejected'],
    ['too far ahead of both', 300_001, 300_001, 'rejected'],
    ['from a clock that is an hour ahead, in both of its times', 0, hourMs, 'rejected'],
    ['from a reception whose clock is an hour behind', hourMs, 0, 'rejected'],
    ['received with a clock that is an hour ahead, and made with the right one', -hourMs, 0, 'accepted'],
    ['published again a day later', 0, -DAY_MS, 'accepted'],
    ['of a recording that is years old', 0, -2_000 * DAY_MS, 'accepted'],
  ])('compares both times: a ping %s', (_, aheadOfReceiptMs, aheadOfAppendMs, type) => {
    const ping = at(0, { receivedTime: NOON - aheadOfReceiptMs });

    expect(decide(null, ping, NOON - aheadOfAppendMs).type).toBe(type);
  });

  it('says of a ping that is ahead of its append by how much, and leaves the state as it is', () => {
    const { state } = travel([at(0)]);

    expect(decide(state, at(60), NOON - 240_001)).toEqual({
      type: 'rejected',
      reason: 'future',
      detail: 'eventTime 2024-05-01T12:01:00.000Z is more than 300000 ms after its append at 2024-05-01T11:55:59.999Z',
    });
  });

  it('rejects a ping more than 5 min ahead of its reception and does not change the state', () => {
    const early = at(0, { receivedTime: NOON - 300_001 });

    expect(decide(null, early)).toEqual({
      type: 'rejected',
      reason: 'future',
      detail: 'eventTime 2024-05-01T12:00:00.000Z is more than 300000 ms after receivedTime 2024-05-01T11:54:59.999Z',
    });
    expect(travel([early]).state).toBeNull();
  });

  it('takes a ping from exactly 5 min after its reception', () => {
    expect(decide(null, at(0, { receivedTime: NOON - 300_000 })).type).toBe('accepted');
  });

  it('leaves a ping from more than 15 days before its reception to the paths', () => {
    const journey = travel([at(0, { receivedTime: NOON + 15 * DAY_MS + 1 })]);

    expect(outcomes(journey)).toEqual(['expired']);
    expect(journey.state).toBeNull();
  });

  it('takes a ping from exactly 15 days before its reception', () => {
    expect(decide(null, at(0, { receivedTime: NOON + 15 * DAY_MS })).type).toBe('accepted');
  });

  it('decides before its order does: neither a future nor an old ping is called late', () => {
    const state = travel([at(0)]).state;

    expect(decide(state, at(-1, { receivedTime: NOON + 16 * DAY_MS })).type).toBe('expired');
    expect(decide(state, at(0, { receivedTime: NOON - DAY_MS })).type).toBe('rejected');
  });
});
