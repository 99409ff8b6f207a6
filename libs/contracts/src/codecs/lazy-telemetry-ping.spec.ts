import { beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { TelemetryPing } from '@waypost/domain';
import type { SchemaRegistryPort } from '../registry/schema-registry.js';
import { arbitraryOf } from '../testing/arbitrary-value.js';
import { varint } from '../testing/varint.js';
import { topics } from '../topics/topics.js';
import { type AvroCodecs, createAvroCodecs } from './avro-codecs.js';
import { createPingReader, LazyTelemetryPing, type PingReader } from './lazy-telemetry-ping.js';

const OWN_ID = 1;
const NEWER_ID = 2;
const { schema } = topics.telemetryPings;
const newer = { ...schema, fields: [...schema.fields, { name: 'tilt', type: ['null', 'double'], default: null }] };

const registry = {
  idOf: () => Promise.resolve(OWN_ID),
  schemaById: (id: number) => Promise.resolve({ type: 'avro', schema: id === OWN_ID ? schema : newer }),
} as unknown as SchemaRegistryPort;

let codecs: AvroCodecs;
let read: PingReader;

beforeAll(async () => {
  codecs = createAvroCodecs({ registry, now: () => 0 });
  await codecs.telemetryPings.prepare();
  await codecs.telemetryPings.resolve([OWN_ID, NEWER_ID]);
  read = createPingReader(codecs.telemetryPings);
});

function optional<T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | null> {
  return fc.option(arbitrary, { nil: null });
}
const key = fc.oneof(fc.string({ unit: 'grapheme' }), fc.constant('__proto__'));
const anyPing = arbitraryOf(schema, { key }) as fc.Arbitrary<TelemetryPing>;

/** As nearly every ping is written: short texts, small numbers, no attributes. */
const small = fc.integer({ min: -(2 ** 27), max: 2 ** 27 - 1 });
const meters = fc.integer({ min: -(2 ** 48), max: 2 ** 48 });
const short = fc.string({ maxLength: 40 });
const plainPing: fc.Arbitrary<TelemetryPing> = fc
  .tuple(
    anyPing,
    fc.record({
      odometerInMeters: optional(meters),
      rpm: optional(small),
      sequence: optional(small),
      connectionType: optional(short),
      vehicleId: optional(short),
      licensePlate: optional(short),
      driverId: optional(short),
    }),
  )
  .map(([ping, rest]) => ({ ...ping, ...rest, attributes: {} }));
const everyPing = fc.oneof(anyPing, plainPing);

/** Somewhere in a larger buffer, as a value lies in a fetch response; what is behind it looks like more of it. */
function inside(value: Buffer): readonly [Buffer, number, number] {
  return [Buffer.concat([Buffer.alloc(3, 0xff), value, Buffer.alloc(9)]), 3, 3 + value.length];
}

function fieldsOf(ping: TelemetryPing): Record<string, unknown> {
  return Object.fromEntries(schema.fields.map(({ name }) => [name, ping[name]]));
}

describe('a lazily read ping', () => {
  it('has the value of every field of the schema, as it was written', () => {
    fc.assert(
      fc.property(everyPing, (ping) => {
        const decoded = read(...inside(codecs.telemetryPings.encode(ping)));
        if (decoded.type !== 'decoded') throw new Error(decoded.type);
        expect(decoded.value).toBeInstanceOf(LazyTelemetryPing);
        expect(fieldsOf(decoded.value)).toEqual(fieldsOf(ping));
      }),
    );
  });

  it('takes and refuses the same damaged bytes as the plain decoder, and gives the same values', () => {
    // Also near the end, and of what means something there.
    const place = fc.oneof(fc.nat(), fc.integer({ min: -40, max: -1 }));
    const byte = fc.oneof(fc.integer({ min: 0, max: 255 }), fc.constantFrom(0, 1, 2, 3, 0x7f, 0x80, 0x81, 0xff));
    const damage = fc.array(fc.tuple(place, byte), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(everyPing, damage, fc.integer({ min: -3, max: 3 }), (ping, bytes, extra) => {
        const value = codecs.telemetryPings.encode(ping);
        const placeOf = (at: number): number =>
          at < 0 ? Math.max(5, value.length + at) : 5 + (at % (value.length - 5));
        for (const [at, damaged] of bytes) value[placeOf(at)] = damaged;
        const cut = extra < 0 ? value.subarray(0, extra) : Buffer.concat([value, Buffer.alloc(extra)]);
        const plain = codecs.telemetryPings.decode(cut);
        const lazy = read(...inside(cut));
        expect(lazy.type).toBe(plain.type);
        if (plain.type === 'decoded' && lazy.type === 'decoded')
          expect(fieldsOf(lazy.value)).toEqual(fieldsOf(plain.value));
      }),
      { numRuns: 1_500 },
    );
  });

  it('is a plain ping when another version of the schema wrote it', () => {
    const ping = fc.sample(anyPing, { numRuns: 1, seed: 3 })[0] as TelemetryPing;
    const own = codecs.telemetryPings.encode(ping);
    const written = Buffer.concat([own, Buffer.from([0])]);
    written.writeInt32BE(NEWER_ID, 1);
    expect(read(...inside(written))).toEqual({ type: 'decoded', value: ping });
  });
});

/** A ping of the first version; `tail` is what a later version adds. All optional fields but the two longs are null. */
function writtenPing(id: number, { time = 1n, long = 1n, tail = [] as readonly number[] }): Buffer {
  const header = [0, 0, 0, 0, id];
  const ids = [2, 0x66, 2, 0x64];
  const [times, optionalLong] = [
    [...varint(time), ...varint(time)],
    [2, ...varint(long)],
  ];
  const [untilOdometer, untilSequence] = [Array<number>(8).fill(0), Array<number>(7).fill(0)];
  const positionValid = 1;
  return Buffer.from([
    ...[...header, ...ids, ...times, positionValid, ...untilOdometer, ...optionalLong],
    ...[...untilSequence, ...optionalLong, 0, 0, ...tail],
  ]);
}

describe('a long that cannot be read exactly', () => {
  it.each([2n ** 52n, -(2n ** 52n), 2n ** 53n + 1n, 2n ** 63n - 1n, -(2n ** 63n)])(
    'is not reported where the field is optional: %s (R-1)',
    (long) => {
      const own = writtenPing(OWN_ID, { long });
      const decoded = [
        read(...inside(own)),
        codecs.telemetryPings.decode(own),
        read(...inside(writtenPing(NEWER_ID, { long, tail: [0] }))),
      ];
      const expected = { fleetId: 'f', eventTime: 1, odometerInMeters: null, sequence: null, buffered: false };
      expect(decoded).toMatchObject(decoded.map(() => ({ type: 'decoded', value: expected })));
    },
  );

  it.each([2n ** 52n - 1n, 1n - 2n ** 52n])('is not %s', (long) => {
    for (const id of [OWN_ID, NEWER_ID]) {
      const decoded = read(...inside(writtenPing(id, { long, tail: id === OWN_ID ? [] : [0] })));
      expect(decoded).toMatchObject({ value: { odometerInMeters: Number(long), sequence: Number(long) } });
    }
  });

  it.each([
    ['a required field has one', { time: 2n ** 52n }],
    ['it is no long at all, of more than 64 bits', { long: 2n ** 70n }],
  ])('makes a ping malformed where %s (R-2)', (_what, written) => {
    const own = writtenPing(OWN_ID, written);
    const results = [
      read(...inside(own)),
      codecs.telemetryPings.decode(own),
      read(...inside(writtenPing(NEWER_ID, { ...written, tail: [0] }))),
    ];
    expect(results.map(({ type }) => type)).toEqual(['malformed', 'malformed', 'malformed']);
  });
});
