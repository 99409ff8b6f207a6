import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { SchemaLookup, SchemaRegistryPort } from '../registry/schema-registry.js';
import { createWriterSchemas } from '../registry/writer-schemas.js';
import { arbitraryOf } from '../testing/arbitrary-value.js';
import { varint } from '../testing/varint.js';
import { allTopics, topics } from '../topics/topics.js';
import { createAvroCodecs } from './avro-codecs.js';
import { createSubjectCodec, type SubjectCodec } from './subject-codec.js';

const pointSchema = {
  type: 'record',
  name: 'Point',
  fields: [
    { name: 'device', type: 'string' },
    { name: 'at', type: { type: 'long', logicalType: 'timestamp-millis' } },
    { name: 'speed', type: ['null', 'double'], default: null },
    { name: 'tags', type: { type: 'map', values: 'string' }, default: {} },
  ],
};

interface Point {
  device: string;
  at: number;
  speed: number | null;
  tags: Record<string, string>;
}

/** device "a", at 1, speed null, no tags; schema id 7. Written by hand from the Avro specification. */
const goldenBytes = Buffer.from([0, 0, 0, 0, 7, 2, 0x61, 2, 0, 0]);
const goldenPoint: Point = { device: 'a', at: 1, speed: null, tags: {} };

interface FakeRegistry extends SchemaRegistryPort {
  readonly schemas: Map<number, SchemaLookup>;
  readonly asked: number[];
}

function fakeRegistry(entries: Readonly<Record<number, object>> = {}): FakeRegistry {
  const schemas = new Map<number, SchemaLookup>();
  for (const [id, schema] of Object.entries(entries)) schemas.set(Number(id), { type: 'avro', schema });
  const asked: number[] = [];
  return {
    schemas,
    asked,
    schemaById: (id) => {
      asked.push(id);
      return Promise.resolve(schemas.get(id) ?? { type: 'unknown' });
    },
    idOf: (_subject, schema) => {
      for (const [id, known] of schemas) {
        if (known.type === 'avro' && known.schema === schema) return Promise.resolve(id);
      }
      return Promise.resolve(null);
    },
    register: () => Promise.reject(new Error('applications never register')),
    setCompatibility: () => Promise.reject(new Error('applications never set compatibility')),
  };
}

async function build(schemas: Readonly<Record<number, object>> = { 7: pointSchema }) {
  const registry = fakeRegistry(schemas);
  const writers = createWriterSchemas(registry, () => 0);
  const codec: SubjectCodec<Point> = createSubjectCodec({
    subject: 'points-value',
    schema: pointSchema,
    registry,
    writers,
  });
  await codec.resolve([...registry.schemas.keys()]);
  return { codec, registry };
}

describe('A subject codec', () => {
  it('writes the Confluent wire format', async () => {
    const { codec } = await build();
    await codec.prepare();
    expect(codec.encode(goldenPoint)).toEqual(goldenBytes);
  });

  it('reads the Confluent wire format', async () => {
    const { codec } = await build();
    expect(codec.decode(goldenBytes)).toEqual({ type: 'decoded', value: goldenPoint });
  });

  it('returns buffers that a later encoding does not change', async () => {
    const { codec } = await build();
    await codec.prepare();
    const first = codec.encode(goldenPoint);
    codec.encode({ device: 'zzz', at: 999, speed: 1, tags: { x: 'y' } });
    expect(first).toEqual(goldenBytes);
  });

  it('encodes values larger than its scratch buffer', async () => {
    const { codec } = await build();
    await codec.prepare();
    const device = 'd'.repeat(100_000);
    expect(codec.decode(codec.encode({ ...goldenPoint, device }))).toMatchObject({ value: { device } });
  });

  it('refuses to encode before it knows its schema id', async () => {
    const { codec } = await build();
    expect(() => codec.encode(goldenPoint)).toThrow(expect.objectContaining({ code: 'codec_not_prepared' }));
  });

  it('says how to fix a schema that is not registered', async () => {
    const { codec } = await build({});
    await expect(codec.prepare()).rejects.toMatchObject({
      code: 'schema_not_registered',
      message: expect.stringContaining('waypost -- set-up'),
    });
  });

  it('throws on a value that breaks the schema', async () => {
    const { codec } = await build();
    await codec.prepare();
    expect(() => codec.encode({ ...goldenPoint, at: 'soon' as unknown as number })).toThrow();
  });

  it.each([
    ['nothing', Buffer.alloc(0)],
    ['less than a header', Buffer.from([0, 0, 0, 0])],
    ['another magic byte', Buffer.from([1, ...goldenBytes.subarray(1)])],
    ['JSON', Buffer.from('{"device":"a"}')],
    ['a record cut short', goldenBytes.subarray(0, -1)],
    ['a byte left over', Buffer.from([...goldenBytes, 0])],
    ['a long of 2^52', Buffer.from([0, 0, 0, 0, 7, 2, 0x61, ...varint(2n ** 52n), 0, 0])],
    ['a long of -2^52 - 1', Buffer.from([0, 0, 0, 0, 7, 2, 0x61, ...varint(-(2n ** 52n) - 1n), 0, 0])],
    ['a long of 2^62', Buffer.from([0, 0, 0, 0, 7, 2, 0x61, ...varint(2n ** 62n), 0, 0])],
    ['an unknown union branch', Buffer.from([0, 0, 0, 0, 7, 2, 0x61, 2, 8, 0])],
    ['a map of 2^51 entries that are not there', Buffer.from([0, 0, 0, 0, 7, 2, 0x61, 2, 0, ...varint(2n ** 51n)])],
  ])('calls %s malformed', async (_what, bytes) => {
    const { codec } = await build();
    expect(codec.decode(bytes)).toMatchObject({ type: 'malformed' });
  });

  it('looks up an id again that was not resolved', async () => {
    const { codec } = await build();
    expect(codec.decode(withId(8))).toEqual({ type: 'unresolved', id: 8 });
  });

  it('tells a schema id that the registry does not know', async () => {
    const { codec } = await build();
    await codec.resolve([8, -1]);
    expect(codec.decode(withId(8))).toEqual({ type: 'unknown_schema', id: 8 });
    expect(codec.decode(withId(-1))).toEqual({ type: 'unknown_schema', id: -1 });
  });

  it("reads an older producer's record, with defaults for what that did not know", async () => {
    const older = { ...pointSchema, fields: pointSchema.fields.slice(0, 2) };
    const { codec } = await build({ 3: older });
    expect(codec.decode(withId(3, Buffer.from([2, 0x61, 2])))).toEqual({ type: 'decoded', value: goldenPoint });
  });

  it("reads a newer producer's record without the fields that it does not know", async () => {
    const newer = {
      ...pointSchema,
      fields: [{ name: 'notes', type: { type: 'map', values: 'long' }, default: {} }, ...pointSchema.fields],
    };
    const { codec } = await build({ 9: newer });
    const notes = [2, 2, 0x78, 4, 0];
    const bytes = withId(9, Buffer.from([...notes, ...goldenBytes.subarray(5)]));
    expect(codec.decode(bytes)).toEqual({ type: 'decoded', value: goldenPoint });
  });

  it('is not led in circles by a skipped block with a negative size', async () => {
    const newer = {
      ...pointSchema,
      fields: [{ name: 'notes', type: { type: 'map', values: 'long' }, default: {} }, ...pointSchema.fields],
    };
    const { codec } = await build({ 9: newer });
    // Block of -1 entries, -2 bytes long: back to where the block began.
    expect(codec.decode(withId(9, Buffer.from([1, 3, 0, 0, 0])))).toMatchObject({ type: 'malformed' });
  });

  it.each<[string, unknown]>([
    ['nulls', 'null'],
    ['records without fields', { type: 'record', name: 'Nothing', fields: [] }],
    ['records of nulls', { type: 'record', name: 'Nulls', fields: [{ name: 'no', type: 'null' }] }],
  ])('refuses a schema with an array of %s: a few bytes could count 2^51 of them (R-2)', async (_what, items) => {
    const notes = { type: ['null', { type: 'map', values: { type: 'array', items } }], name: 'notes', default: null };
    const { codec } = await build({ 9: { ...pointSchema, fields: [...pointSchema.fields, notes] } });
    const oneNote = [2, 2, 0x78];
    const bytes = withId(9, Buffer.from([...goldenBytes.subarray(5), ...oneNote, ...varint(2n ** 51n), 0, 0]));
    expect(codec.decode(bytes)).toMatchObject({ type: 'incompatible_schema', id: 9 });
  });

  it('reads a newer producer that has arrays of something, also of itself', async () => {
    const child = { type: 'array', items: 'Point' };
    const newer = { ...pointSchema, fields: [...pointSchema.fields, { name: 'children', type: child, default: [] }] };
    const { codec } = await build({ 9: newer });
    const bytes = withId(9, Buffer.from([...goldenBytes.subarray(5), 2, ...goldenBytes.subarray(5), 0, 0]));
    expect(codec.decode(bytes)).toEqual({ type: 'decoded', value: goldenPoint });
  });

  it('reports a schema whose data it cannot read', async () => {
    const other = { type: 'record', name: 'Point', fields: [{ name: 'device', type: 'long' }] };
    const { codec } = await build({ 4: other });
    expect(codec.decode(withId(4))).toMatchObject({ type: 'incompatible_schema', id: 4 });
  });

  it('reports a schema that is not valid Avro, or is missing', async () => {
    const { codec, registry } = await build({ 4: { type: 'record', name: 'Point' } });
    registry.schemas.set(5, { type: 'not_avro', detail: 'the schema is JSON, not Avro' });
    await codec.resolve([5]);
    expect(codec.decode(withId(4))).toMatchObject({ type: 'incompatible_schema', id: 4 });
    expect(codec.decode(withId(5))).toMatchObject({ type: 'incompatible_schema', id: 5 });
  });

  it('never throws or hangs on any bytes', async () => {
    const { codec } = await build();
    const bytes = fc.uint8Array({ maxLength: 60 }).map((data) => withId(7, Buffer.from(data)));
    const check = fc.property(bytes, (value) => ['decoded', 'malformed'].includes(codec.decode(value).type));
    fc.assert(check, { numRuns: 2_000 });
  });
});

describe('The codecs of all topics', () => {
  it.each(allTopics.map((topic) => [topic.subject, topic.schema] as const))(
    'give back every value of %s that they take',
    async (subject, schema) => {
      const ids = Object.fromEntries(allTopics.map((topic, index) => [index + 1, topic.schema]));
      const codecs = createAvroCodecs({ registry: fakeRegistry(ids), now: () => 0 });
      const codec = Object.values(codecs).find((one) => one.subject === subject) as SubjectCodec<unknown>;
      await codec.prepare();
      await codec.resolve(Object.keys(ids).map(Number));
      fc.assert(
        fc.property(arbitraryOf(schema), (value) => {
          expect(codec.decode(codec.encode(value))).toEqual({ type: 'decoded', value });
        }),
      );
    },
  );

  it('decode a ping that its producer wrote with only the required fields of the first version', async () => {
    const required = topics.telemetryPings.schema.fields.filter((field) => !('default' in field));
    const registry = fakeRegistry({ 1: { ...topics.telemetryPings.schema, fields: required } });
    const codecs = createAvroCodecs({ registry, now: () => 0 });
    await codecs.telemetryPings.resolve([1]);
    // fleetId "f", deviceId "d", eventTime 1, receivedTime 2, positionValid true
    const decoded = codecs.telemetryPings.decode(withId(1, Buffer.from([2, 0x66, 2, 0x64, 2, 4, 1])));
    expect(decoded).toMatchObject({
      type: 'decoded',
      value: { fleetId: 'f', deviceId: 'd', eventTime: 1, receivedTime: 2, positionValid: true },
    });
    expect(decoded).toMatchObject({ value: { latitude: null, ignition: null, buffered: false, attributes: {} } });
  });
});

function withId(id: number, data: Buffer = goldenBytes.subarray(5)): Buffer {
  const header = Buffer.from([0, 0, 0, 0, 0]);
  header.writeInt32BE(id, 1);
  return Buffer.concat([header, data]);
}
