import { beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { DeviceState } from '@waypost/domain';
import type { SchemaRegistryPort } from '../registry/schema-registry.js';
import { createWriterSchemas } from '../registry/writer-schemas.js';
import { arbitraryOf } from '../testing/arbitrary-value.js';
import { topics } from '../topics/topics.js';
import { type AvroCodecs, createAvroCodecs } from './avro-codecs.js';
import { createDeviceStateReader, type DeviceStateReader } from './device-state-avro.js';
import { createSubjectCodec, type SubjectCodec } from './subject-codec.js';

interface Named {
  readonly name: string;
}

const { schema } = topics.deviceState;
/** The schema from before a stop had an ignition time. */
const olderSchema = JSON.parse(JSON.stringify(schema), (_key, value: unknown) => {
  if (typeof value !== 'object' || value === null || !('name' in value) || value.name !== 'Trip') return value;
  const { fields } = value as unknown as { readonly fields: readonly Named[] };
  return { ...value, fields: fields.filter(({ name }) => name !== 'ignitionOffSince') };
}) as object;

const OLDER_ID = 2;
const registry = {
  idOf: (_subject: string, asked: object) => Promise.resolve(asked === olderSchema ? OLDER_ID : 1),
  schemaById: (id: number) => Promise.resolve({ type: 'avro', schema: id === OLDER_ID ? olderSchema : schema }),
} as unknown as SchemaRegistryPort;

let codecs: AvroCodecs;
let older: SubjectCodec<object>;
let read: DeviceStateReader;

beforeAll(async () => {
  codecs = createAvroCodecs({ registry, now: () => 0 });
  await codecs.deviceState.prepare();
  await codecs.deviceState.resolve([1, OLDER_ID]);
  const writers = createWriterSchemas(registry, () => 0);
  older = createSubjectCodec({ subject: topics.deviceState.subject, schema: olderSchema, registry, writers });
  await older.prepare();
  read = createDeviceStateReader(codecs.deviceState);
});

const anyState = arbitraryOf(schema) as fc.Arbitrary<DeviceState>;

describe('the reader of device states', () => {
  it('returns what was written', () => {
    fc.assert(
      fc.property(anyState, (state) => {
        const value = codecs.deviceState.encode(state);
        expect(read(value, 0, value.length)).toEqual({ type: 'decoded', value: state });
      }),
    );
  });

  it('reads states written before stops had an ignition time', () => {
    fc.assert(
      fc.property(anyState, (state) => {
        const value = older.encode(state);
        expect(value.readInt32BE(1)).toBe(OLDER_ID);
        const trip = state.trip && { ...state.trip, ignitionOffSince: null };
        expect(read(value, 0, value.length)).toEqual({ type: 'decoded', value: { ...state, trip } });
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
