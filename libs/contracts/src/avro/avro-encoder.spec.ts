import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { writeDeviceState } from '../codecs/device-state-avro.js';
import { writeFleetEvent } from '../codecs/fleet-event-writer.js';
import type { OwnWriter } from '../codecs/subject-codec.js';
import { arbitraryOf } from '../testing/arbitrary-value.js';
import { topics } from '../topics/topics.js';
import { AvroEncoder } from './avro-encoder.js';
import { avroTypeOf } from './avro-type.js';

/** All that avsc can write, with the borders at which the number of bytes changes. */
const longs = fc.oneof(
  fc.integer({ min: -(2 ** 52) + 1, max: 2 ** 52 - 1 }),
  fc
    .nat(52)
    .chain((bits) =>
      fc.constantFrom(2 ** bits - 1, -(2 ** bits) + 1, 2 ** Math.min(bits, 51), -(2 ** Math.min(bits, 51))),
    ),
);
const texts = fc.oneof(
  fc.string({ maxLength: 70 }),
  fc.string({ unit: 'binary', maxLength: 70 }),
  fc.constantFrom('x'.repeat(9_000), 'é'.repeat(5_000)),
);
const AT = 5;

function expectTheBytesOfAvsc<T>(schema: object, write: OwnWriter<T>): void {
  const type = avroTypeOf(schema);
  const arbitrary = arbitraryOf(schema, { long: longs, string: texts }) as fc.Arbitrary<T>;
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
    expectTheBytesOfAvsc(topics.deviceState.schema, writeDeviceState);
  });

  it('is for an event the bytes that avsc writes', () => {
    expectTheBytesOfAvsc(topics.fleetEvents.schema, writeFleetEvent);
  });

  it.each([
    ['a long with a fraction', (to: AvroEncoder) => to.long(1.5)],
    ['a long that is not a number', (to: AvroEncoder) => to.long(Number.NaN)],
    ['a long that no reader reads exactly', (to: AvroEncoder) => to.long(2 ** 52)],
    ['an int beyond 32 bits', (to: AvroEncoder) => to.int(2 ** 31)],
    ['a double that is not there', (to: AvroEncoder) => to.optionalDouble(undefined as unknown as null)],
  ])('is refused for %s', (_, write) => expect(() => write(new AvroEncoder())).toThrow());
});
