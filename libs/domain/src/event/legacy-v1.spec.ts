import { describe, expect, it } from '@jest/globals';
import { eventOf, NOON } from '../../../../test/support/samples.js';
import { serializeLegacyV1 } from './legacy-v1.js';

const ID = 'd08a18f2-8c03-52b8-8f97-c1d25f86d0d6';

function bodyOf(...args: Parameters<typeof eventOf>): unknown {
  return JSON.parse(serializeLegacyV1(eventOf(...args), ID));
}

describe('the legacy-v1 body (R-14)', () => {
  it('is one flat object with its fields in their order', () => {
    const event = eventOf({
      eventType: 'ignition_on',
      vehicleId: 'van-7',
      licensePlate: 'AB-123-C',
      driverId: 'driver-9',
      altitudeInMeters: -3.5,
      speedInKmh: 88.5,
      heading: 359.9,
      ignition: true,
      odometerInMeters: 123_456_789,
      batteryVoltage: 13.8,
      connectionType: 'LTE-M',
      rpm: 2_100,
      fuelLevel: 61.5,
    });

    expect(serializeLegacyV1(event, ID)).toBe(
      '{"event_id":"d08a18f2-8c03-52b8-8f97-c1d25f86d0d6","event":"ignition_on","fleet_id":"fleet-1",' +
        '"device_id":"device-1","timestamp":1714564800000,"lat":52.1,"lng":4.9,"speed":88.5,"direction":359.9,' +
        '"ignition":1,"odometer":123456.8,"vehicle_id":"van-7","license_plate":"AB-123-C","driver_id":"driver-9",' +
        '"battery":13.8,"rpm":2100,"fuel_level":61.5}',
    );
  });

  it('names the geofence of its event, and nothing else that only v1 has', () => {
    const geofence = { resourceId: 'depot', geofenceId: 'depot', geofenceName: 'the depot' };

    expect(bodyOf({ eventType: 'geofence_out', ...geofence, enteredAt: NOON - 60_000, durationInSeconds: 60 })).toEqual(
      {
        event_id: ID,
        event: 'geofence_out',
        fleet_id: 'fleet-1',
        device_id: 'device-1',
        timestamp: NOON,
        lat: 52.1,
        lng: 4.9,
        geofence_id: 'depot',
        geofence_name: 'the depot',
      },
    );
  });

  it('leaves out unknown values instead of inventing them', () => {
    expect(serializeLegacyV1(eventOf({ latitude: null, longitude: null }), ID)).toBe(
      '{"event_id":"d08a18f2-8c03-52b8-8f97-c1d25f86d0d6","event":"position","fleet_id":"fleet-1",' +
        '"device_id":"device-1","timestamp":1714564800000}',
    );
  });

  it('keeps every reported 0, and false as 0', () => {
    const measured = { speedInKmh: 0, heading: 0, ignition: false, odometerInMeters: 0 };
    const zeros = { ...measured, latitude: 0, longitude: 0, batteryVoltage: 0, rpm: 0, fuelLevel: 0 };

    expect(bodyOf(zeros)).toMatchObject({
      ...{ lat: 0, lng: 0, speed: 0, direction: 0, ignition: 0, odometer: 0 },
      ...{ battery: 0, rpm: 0, fuel_level: 0 },
    });
  });

  it.each([
    [49, 0],
    [50, 0.1],
    [1_000, 1],
    [123_449, 123.4],
    [123_450, 123.5],
  ])('gives the odometer of %d m as %d km', (odometerInMeters, odometer) => {
    expect(bodyOf({ odometerInMeters })).toMatchObject({ odometer });
  });

  it('never writes null, not even for a number that JSON does not have', () => {
    const event = eventOf({ speedInKmh: Number.NaN, odometerInMeters: Infinity, batteryVoltage: -Infinity });

    expect(serializeLegacyV1(event, ID)).not.toMatch(/null|speed|odometer|battery/);
  });
});
