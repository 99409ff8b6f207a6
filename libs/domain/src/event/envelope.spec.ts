import { describe, expect, it } from '@jest/globals';
import { eventOf, NOON } from '../../../../test/support/samples.js';
import { serializeEnvelope } from './envelope.js';

const ID = 'd08a18f2-8c03-52b8-8f97-c1d25f86d0d6';

const everything = eventOf({
  eventType: 'ignition_off',
  vehicleId: 'van-7',
  licensePlate: 'AB-123-C',
  driverId: 'driver-9',
  locationTime: NOON - 1,
  altitudeInMeters: -3.5,
  speedInKmh: 88.5,
  heading: 359.9,
  ignition: false,
  odometerInMeters: 123_456_789,
  batteryVoltage: 13.8,
  connectionType: 'LTE-M',
  rpm: 2_100,
  fuelLevel: 61.5,
});

describe('the v1 body', () => {
  it('is the envelope of R-11 with the fields of R-13 in their order', () => {
    expect(serializeEnvelope(everything, ID)).toBe(
      '{"eventId":"d08a18f2-8c03-52b8-8f97-c1d25f86d0d6","eventTime":"2024-05-01T12:00:00.000Z","eventType":"ignition_off",' +
        '"eventData":{"deviceId":"device-1","fleetId":"fleet-1","vehicleId":"van-7","licensePlate":"AB-123-C",' +
        '"driverId":"driver-9","latitude":52.1,"longitude":4.9,"locationTime":"2024-05-01T11:59:59.999Z",' +
        '"altitudeInMeters":-3.5,"speedInKmh":88.5,"heading":359.9,"ignition":false,"odometerInMeters":123456789,' +
        '"batteryVoltage":13.8,"connectionType":"LTE-M","rpm":2100,"fuelLevel":61.5}}',
    );
  });

  it('leaves out unknown values', () => {
    expect(serializeEnvelope(eventOf({ latitude: null, longitude: null }), ID)).toBe(
      '{"eventId":"d08a18f2-8c03-52b8-8f97-c1d25f86d0d6","eventTime":"2024-05-01T12:00:00.000Z","eventType":"position",' +
        '"eventData":{"deviceId":"device-1","fleetId":"fleet-1"}}',
    );
  });

  it('keeps every reported 0 and false', () => {
    const zeros = {
      latitude: 0,
      longitude: 0,
      altitudeInMeters: 0,
      speedInKmh: 0,
      heading: 0,
      ignition: false,
      odometerInMeters: 0,
      batteryVoltage: 0,
      rpm: 0,
      fuelLevel: 0,
    };

    expect(JSON.parse(serializeEnvelope(eventOf(zeros), ID))).toMatchObject({ eventData: zeros });
  });

  it('never writes null, not even for a number that JSON does not have', () => {
    const body = serializeEnvelope(eventOf({ speedInKmh: Number.NaN, rpm: Infinity }), ID);

    expect(body).not.toMatch(/null|speedInKmh|rpm/);
  });

  it('survives any text', () => {
    const licensePlate = 'É"\\\n\u2028\u0000🚚';

    expect(JSON.parse(serializeEnvelope(eventOf({ licensePlate }), ID))).toMatchObject({ eventData: { licensePlate } });
  });
});
