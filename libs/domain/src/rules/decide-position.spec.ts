import { describe, expect, it } from '@jest/globals';
import { NOON, pingOf } from '../../../../test/support/samples.js';
import type { TelemetryPing } from '../records/telemetry-ping.js';
import { outcomes, travel } from '../testing/journey.js';
import { DEFAULT_RULE_SETTINGS } from './rule-settings.js';

/** A ping so many seconds after noon. */
function at(seconds: number, fields: Partial<TelemetryPing> = {}): TelemetryPing {
  return pingOf({ eventTime: NOON + seconds * 1000, ...fields });
}

const lostFix = { positionValid: false, latitude: null, longitude: null };

describe('the position window (R-7)', () => {
  it("sends a device's first valid fix at once", () => expect(outcomes(travel([at(0)]))).toEqual([['position']]));

  it('drops pings within 180 s of the last position and sends the next one, the edge included', () => {
    const journey = travel([at(0), at(60), at(179.999), at(180), at(359.999), at(360)]);

    expect(outcomes(journey)).toEqual([['position'], [], [], ['position'], [], ['position']]);
    expect(journey.decisions[1]).toMatchObject({ type: 'moved', events: [] });
  });

  it('measures from the last position sent, not from the last ping or a fixed grid', () => {
    const journey = travel([at(0), at(200), at(300), at(379.999), at(380)]);

    expect(outcomes(journey)).toEqual([['position'], ['position'], [], [], ['position']]);
  });

  it('counts event time, however late the pings are received', () => {
    const received = { receivedTime: NOON + 3_600_000 };

    expect(outcomes(travel([at(0, received), at(100, received), at(180, received)]))).toEqual([
      ['position'],
      [],
      ['position'],
    ]);
  });

  it('types the position by the last known ignition, and as awake while none is known', () => {
    const journey = travel([at(0), at(180, { ignition: false }), at(360), at(540, { ignition: true })]);

    expect(outcomes(journey)).toEqual([
      ['position'],
      ['position_sleep'],
      ['position_sleep'],
      ['ignition_on', 'position'],
    ]);
  });

  it('shares one window between position and position_sleep', () => {
    const journey = travel([at(0, { ignition: true }), at(10, { ignition: false }), at(189.999), at(190)]);

    expect(outcomes(journey)).toEqual([['position'], ['ignition_off', 'position_sleep'], [], ['position_sleep']]);
  });

  it('sends nothing without a valid fix, and the first valid one after it', () => {
    const journey = travel([at(0, lostFix), at(10, lostFix), at(20)]);

    expect(outcomes(journey)).toEqual([[], [], ['position']]);
    expect(journey.decisions[0]).toMatchObject({ type: 'accepted', position: 'invalid_fix' });
  });

  it('takes another window from a back-test', () => {
    const settings = { ...DEFAULT_RULE_SETTINGS, positionWindowMs: 60_000 };

    expect(outcomes(travel([at(0), at(59.999), at(60)], null, settings))).toEqual([['position'], [], ['position']]);
  });
});
