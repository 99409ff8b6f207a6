import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { requireTestStack } from '../../../../test/support/test-stack.js';
import { createSchemaRegistry, type SchemaRegistryPort } from '../registry/schema-registry.js';
import { createWriterSchemas } from '../registry/writer-schemas.js';
import { topics } from '../topics/topics.js';
import { createSubjectCodec } from './subject-codec.js';

const { schema } = topics.telemetryPings;
type Field = (typeof schema)['fields'][number];

/** The first version that a producer may have been built with: the required fields, and one that is gone since. */
const olderSchema = {
  ...schema,
  fields: [...schema.fields.filter(isRequired), { name: 'firmware', type: 'string', default: '' }],
};

function isRequired(field: Field): boolean {
  return !('default' in field);
}

function withField(...added: readonly object[]): object {
  return { ...schema, fields: [...schema.fields, ...added] };
}

let registry: SchemaRegistryPort;
beforeAll(() => {
  registry = createSchemaRegistry({ url: requireTestStack().registryUrl });
});

/** A subject of its own, with the older version registered and the rule set. */
async function build() {
  const subject = `evolution-${randomUUID()}-value`;
  const olderId = await registry.register(subject, olderSchema);
  await registry.setCompatibility(subject, 'BACKWARD_TRANSITIVE');
  return { olderId, subject };
}

function codecFor<T>(subject: string, ownSchema: object) {
  const writers = createWriterSchemas(registry, Date.now);
  return createSubjectCodec<T>({ subject, schema: ownSchema, registry, writers });
}

const olderPing = {
  fleetId: 'f',
  deviceId: 'd',
  eventTime: 1_760_000_000_000,
  receivedTime: 1_760_000_000_500,
  positionValid: true,
  firmware: '1.0',
};

describe('Schema evolution on the real registry (R-1)', () => {
  it("still reads an older producer's record", async () => {
    const { olderId, subject } = await build();
    const older = codecFor<typeof olderPing>(subject, olderSchema);
    await older.prepare();
    const bytes = older.encode(olderPing);
    expect(bytes.readInt32BE(1)).toBe(olderId);

    const newId = await registry.register(subject, schema);
    expect(newId).not.toBe(olderId);
    const current = codecFor(subject, schema);
    await current.resolve([olderId]);
    const { firmware: _gone, ...kept } = olderPing;
    expect(current.decode(bytes)).toMatchObject({
      type: 'decoded',
      value: { ...kept, latitude: null, ignition: null, buffered: false, attributes: {} },
    });
  });

  it("reads a newer producer's record without what it does not know", async () => {
    const { subject } = await build();
    const newerSchema = withField({ name: 'mood', type: ['null', 'string'], default: null });
    const newerId = await registry.register(subject, newerSchema);
    const newer = codecFor<object>(subject, newerSchema);
    await newer.prepare();
    const current = codecFor(subject, schema);
    await current.resolve([newerId]);
    expect(current.decode(newer.encode({ ...olderPing, buffered: true, attributes: {}, mood: 'fine' }))).toMatchObject({
      type: 'decoded',
      value: { deviceId: 'd', buffered: true },
    });
  });

  it.each([
    ['a new field without a default', withField({ name: 'mood', type: 'string' })],
    [
      'a changed type',
      {
        ...schema,
        fields: schema.fields.map((field) => (field.name === 'eventTime' ? { ...field, type: 'string' } : field)),
      },
    ],
  ])('refuses %s', async (_what, incompatible) => {
    const { subject } = await build();
    await expect(registry.register(subject, incompatible)).rejects.toMatchObject({
      code: 'schema_incompatible',
      message: expect.stringContaining(subject),
    });
    expect(await registry.idOf(subject, incompatible)).toBeNull();
  });

  it('compares with every earlier version, not only with the latest', async () => {
    const subject = `evolution-${randomUUID()}-value`;
    const record = (...fields: readonly object[]) => ({ type: 'record', namespace: 'waypost', name: 'Thing', fields });
    await registry.register(subject, record({ name: 'kept', type: 'string' }));
    await registry.setCompatibility(subject, 'BACKWARD_TRANSITIVE');
    await registry.register(
      subject,
      record({ name: 'kept', type: 'string' }, { name: 'more', type: 'string', default: '' }),
    );
    // The second version always has "more", the first never: without a default its records could not be read.
    const third = record({ name: 'kept', type: 'string' }, { name: 'more', type: 'string' });
    await expect(registry.register(subject, third)).rejects.toMatchObject({ code: 'schema_incompatible' });
  });

  it('returns the same id for the same schema, and reports unknown schemas', async () => {
    const { olderId, subject } = await build();
    expect(await registry.register(subject, olderSchema)).toBe(olderId);
    expect(await registry.idOf(subject, olderSchema)).toBe(olderId);
    expect(await registry.idOf(subject, schema)).toBeNull();
    expect(await registry.idOf(`nowhere-${randomUUID()}-value`, schema)).toBeNull();
    expect(await registry.schemaById(2_147_483_647)).toEqual({ type: 'unknown' });
    expect(await registry.schemaById(olderId)).toEqual({ type: 'avro', schema: olderSchema });
  });
});
