import { beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { deviceGeofences } from '../../../test/support/arbitrary-geofences.js';
import { trips } from '../../../test/support/arbitrary-trips.js';
import { createAvroCodecs, type AvroCodecs } from './avro-codecs.js';
import { createDeviceStateReader, type DeviceStateReader } from './device-state-reader.js';
import type { SchemaRegistryPort } from './schema-registry.port.js';
import { topics } from './topics.js';

const registry = {
  idOf: () => Promise.resolve(1),
  schemaById: () => Promise.resolve({ type: 'avro', schema: topics.deviceState.schema }),
} as unknown as SchemaRegistryPort;

let codecs: AvroCodecs;
let read: DeviceStateReader;

beforeAll(async () => {
  codecs = createAvroCodecs({ registry, now: () => 0 });
  await codecs.deviceState.prepare();
  await codecs.deviceState.resolve([1]);
  read = createDeviceStateReader(codecs.deviceState);
});

const time = fc.integer({ min: 0, max: 2 ** 51 });
const optional = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(arbitrary, { nil: null });

const anyState = fc.record({
  newestEventTime: time,
  ignition: optional(fc.boolean()),
  lastSentTime: optional(time),
  armed: fc.boolean(),
  fixTime: optional(time),
  latitude: optional(fc.double()),
  longitude: optional(fc.double()),
  geofences: optional(deviceGeofences(time)),
  trip: optional(trips(time)),
});

describe('the reader of device states', () => {
  it('gives back what was written', () => {
    fc.assert(
      fc.property(anyState, (state) => {
        const value = codecs.deviceState.encode(state);
        expect(read(value, 0, value.length)).toEqual({ type: 'decoded', value: state });
      }),
    );
  });

  it('takes and refuses the same damaged bytes as the plain decoder', () => {
    const damage = fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 })), { minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(anyState, damage, fc.integer({ min: -3, max: 3 }), (state, bytes, extra) => {
        const value = codecs.deviceState.encode(state);
        for (const [at, byte] of bytes) value[5 + (at % (value.length - 5))] = byte;
        const cut = extra < 0 ? value.subarray(0, extra) : Buffer.concat([value, Buffer.alloc(extra)]);
        const lazy = read(cut, 0, cut.length);
        const plain = codecs.deviceState.decode(cut);
        expect(lazy.type).toBe(plain.type);
        if (plain.type === 'decoded') expect(lazy).toEqual(plain);
      }),
      { numRuns: 1_000 },
    );
  });
});
