import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { DeviceState, FleetEvent } from '@waypost/domain';
import { deviceGeofences } from '../../../test/support/arbitrary-geofences.js';
import { trips } from '../../../test/support/arbitrary-trips.js';
import { AvroEncoder } from './avro-encoder.js';
import { avroTypeOf } from './avro-type.js';
import { writeDeviceState } from './device-state-avro.js';
import { writeFleetEvent } from './fleet-event-writer.js';
import type { OwnWriter } from './subject-codec.js';
import { topics } from './topics.js';

function maybe<T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | null> {
  return fc.option(arbitrary, { nil: null });
}

/** All that avsc can write, with the borders at which the number of bytes changes. */
const longs = fc.oneof(
  fc.integer({ min: -(2 ** 52) + 1, max: 2 ** 52 - 1 }),
  fc
    .nat(52)
    .chain((bits) =>
      fc.constantFrom(2 ** bits - 1, -(2 ** bits) + 1, 2 ** Math.min(bits, 51), -(2 ** Math.min(bits, 51))),
    ),
);
const ints = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });
const doubles = fc.double();
const texts = fc.oneof(
  fc.string({ maxLength: 70 }),
  fc.string({ unit: 'binary', maxLength: 70 }),
  fc.constantFrom('x'.repeat(9_000), 'é'.repeat(5_000)),
);
const place = fc.record({ latitude: doubles, longitude: doubles });

const states: fc.Arbitrary<DeviceState> = fc.record({
  newestEventTime: longs,
  ignition: maybe(fc.boolean()),
  lastSentTime: maybe(longs),
  armed: fc.boolean(),
  fixTime: maybe(longs),
  latitude: maybe(doubles),
  longitude: maybe(doubles),
  geofences: maybe(deviceGeofences(longs)),
  trip: maybe(trips(longs)),
});

const events: fc.Arbitrary<FleetEvent> = fc.record({
  ...{ fleetId: texts, deviceId: texts, eventType: texts, eventTime: longs, resourceId: maybe(texts) },
  ...{ vehicleId: maybe(texts), licensePlate: maybe(texts), driverId: maybe(texts), connectionType: maybe(texts) },
  ...{ latitude: maybe(doubles), longitude: maybe(doubles), locationTime: maybe(longs), heading: maybe(doubles) },
  ...{ altitudeInMeters: maybe(doubles), speedInKmh: maybe(doubles), ignition: maybe(fc.boolean()) },
  ...{ odometerInMeters: maybe(longs), batteryVoltage: maybe(doubles), rpm: maybe(ints), fuelLevel: maybe(doubles) },
  ...{ geofenceId: maybe(texts), geofenceName: maybe(texts), enteredAt: maybe(longs), routeId: maybe(texts) },
  ...{ durationInSeconds: maybe(doubles), activityId: maybe(texts), startTime: maybe(longs), endTime: maybe(longs) },
  ...{
    startLocation: maybe(place),
    endLocation: maybe(place),
    distanceInMeters: maybe(longs),
    endReason: maybe(texts),
  },
  ...{ maxSpeedInKmh: maybe(doubles), averageSpeedInKmh: maybe(doubles), idleTimeInSeconds: maybe(doubles) },
});

const AT = 5;

function expectTheBytesOfAvsc<T>(schema: object, arbitrary: fc.Arbitrary<T>, write: OwnWriter<T>): void {
  const type = avroTypeOf(schema);
  const encoder = new AvroEncoder();
  fc.assert(
    fc.property(arbitrary, (value) => {
      encoder.reset(AT);
      write(encoder, value);
      expect(type.toBuffer(value).compare(encoder.bytes, AT, encoder.at)).toBe(0);
    }),
    { numRuns: 500 },
  );
}

describe('records written without avsc', () => {
  it('is for a device state the bytes that avsc writes', () => {
    expectTheBytesOfAvsc(topics.deviceState.schema, states, writeDeviceState);
  });

  it('is for an event the bytes that avsc writes', () => {
    expectTheBytesOfAvsc(topics.fleetEvents.schema, events, writeFleetEvent);
  });

  it.each([
    ['a long with a fraction', (to: AvroEncoder) => to.long(1.5)],
    ['a long that is no number', (to: AvroEncoder) => to.long(Number.NaN)],
    ['a long that no reader reads exactly', (to: AvroEncoder) => to.long(2 ** 52)],
    ['an int beyond 32 bits', (to: AvroEncoder) => to.int(2 ** 31)],
    ['a double that is not there', (to: AvroEncoder) => to.optionalDouble(undefined as unknown as null)],
  ])('is refused for %s', (_, write) => expect(() => write(new AvroEncoder())).toThrow());
});
