import fc from 'fast-check';
import { LONG_LIMIT } from '../avro/avro-long.js';

/** What primitive types become, and the keys of maps. */
export interface Primitives {
  readonly string?: fc.Arbitrary<string>;
  readonly long?: fc.Arbitrary<number>;
  readonly key?: fc.Arbitrary<string>;
}

/** Values of an Avro schema, as the generated types say that they look. */
export function arbitraryOf(schema: unknown, given: Primitives = {}): fc.Arbitrary<unknown> {
  if (Array.isArray(schema)) return fc.oneof(...schema.map((branch) => arbitraryOf(branch, given)));
  const node = typeof schema === 'string' ? { type: schema } : (schema as Record<string, unknown>);
  switch (node['type']) {
    case 'null':
      return fc.constant(null);
    case 'boolean':
      return fc.boolean();
    case 'int':
      return fc.integer();
    case 'long':
      return given.long ?? fc.integer({ min: 1 - LONG_LIMIT, max: LONG_LIMIT - 1 });
    case 'double':
      return fc.double({ noNaN: true });
    case 'string':
      return given.string ?? fc.string({ unit: 'grapheme' });
    case 'bytes':
      return fc.uint8Array().map((bytes) => Buffer.from(bytes));
    case 'array':
      return fc.array(arbitraryOf(node['items'], given));
    case 'map':
      return fc.dictionary(given.key ?? fc.string(), arbitraryOf(node['values'], given), { noNullPrototype: true });
    case 'record': {
      const fields = node['fields'] as readonly { readonly name: string; readonly type: unknown }[];
      return fc.record(Object.fromEntries(fields.map((field) => [field.name, arbitraryOf(field.type, given)])));
    }
    default:
      throw new Error(`No arbitrary for ${JSON.stringify(schema)}`);
  }
}
