import { describe, expect, it } from '@jest/globals';
import { eventOf, NOON, pingOf } from '../../../../test/support/samples.js';
import { eventOfPing } from './event-of-ping.js';

describe('the event of a ping (R-13)', () => {
  it('carries every measurement that the ping reports', () => {
    const measured = {
      vehicleId: 'van-7',
      licensePlate: 'AB-123-C',
      driverId: 'driver-9',
      altitudeInMeters: -3.5,
      speedInKmh: 88.5,
      heading: 359.9,
      odometerInMeters: 123_456_789,
      batteryVoltage: 13.8,
      connectionType: 'LTE-M',
      rpm: 2_100,
      fuelLevel: 61.5,
    };

    expect(eventOfPing('position', pingOf(measured), true, null)).toEqual(eventOf({ ...measured, ignition: true }));
  });

  it('keeps a reported 0 apart from nothing', () => {
    const zeros = { speedInKmh: 0, heading: 0, altitudeInMeters: 0, odometerInMeters: 0, rpm: 0, fuelLevel: 0 };

    expect(eventOfPing('position', pingOf(zeros), null, null)).toEqual(eventOf(zeros));
  });

  it('borrows no measurement from an earlier ping', () => {
    const before = {
      newestEventTime: NOON - 1,
      ignition: true,
      lastSentTime: null,
      armed: false,
      fixTime: NOON - 1,
      latitude: 1,
      longitude: 2,
      geofences: null,
      trip: null,
    };

    expect(eventOfPing('position', pingOf(), true, before)).toEqual(eventOf({ ignition: true }));
  });

  it.each([Number.NaN, Infinity, -Infinity])('treats the measurement %d as not reported', (value) => {
    const senseless = {
      altitudeInMeters: value,
      speedInKmh: value,
      heading: value,
      odometerInMeters: value,
      batteryVoltage: value,
      rpm: value,
      fuelLevel: value,
    };

    expect(eventOfPing('position', pingOf(senseless), null, null)).toEqual(eventOf());
  });

  it.each([-0.1, 360, 1000])('treats the heading %d as not reported', (heading) => {
    expect(eventOfPing('position', pingOf({ heading }), null, null).heading).toBeNull();
  });

  it.each([-0.1, -1])('treats the speed %d as not reported', (speedInKmh) => {
    expect(eventOfPing('position', pingOf({ speedInKmh }), null, null).speedInKmh).toBeNull();
  });

  it('treats a text of more than 256 characters as not reported', () => {
    const longest = 'x'.repeat(256);
    const texts = { vehicleId: longest, licensePlate: longest, driverId: longest, connectionType: longest };
    const longer = Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, `${text}x`]));

    expect(eventOfPing('position', pingOf(texts), null, null)).toEqual(eventOf(texts));
    expect(eventOfPing('position', pingOf(longer), null, null)).toEqual(eventOf({}));
  });

  it('treats an empty text as not reported', () => {
    const empty = { vehicleId: '', licensePlate: '', driverId: '', connectionType: '' };

    expect(eventOfPing('position', pingOf(empty), null, null)).toEqual(eventOf());
  });
});
