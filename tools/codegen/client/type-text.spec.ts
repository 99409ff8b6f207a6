import { describe, expect, it } from '@jest/globals';
import { type TypeSchema, typeText } from './type-text.js';

describe('types of the client', () => {
  it.each<[string, TypeSchema, string]>([
    ['a reference', { $ref: '#/components/schemas/Fleet' }, 'Fleet'],
    ['a constant', { type: 'string', const: 'circle' }, '"circle"'],
    ['an enum', { type: 'string', enum: ['a', 'b'] }, 'Open<"a" | "b">'],
    ['an enum of numbers', { type: 'integer', enum: [0, 1] }, '0 | 1'],
    ['a nullable text', { type: ['string', 'null'] }, 'string | null'],
    ['alternatives', { anyOf: [{ type: 'integer' }, { type: 'null' }] }, 'number | null'],
    ['a list', { type: 'array', items: { type: 'string' } }, 'readonly (string)[]'],
    ['a pair', { type: 'array', prefixItems: [{ type: 'number' }, { type: 'number' }] }, 'readonly [number, number]'],
    ['a map', { type: 'object', additionalProperties: { type: 'string' } }, 'Readonly<Record<string, string>>'],
    ['any object', { type: 'object', properties: {} }, 'Readonly<Record<string, unknown>>'],
    ['anything', {}, 'unknown'],
  ])('show %s', (_what, schema, expected) => expect(typeText(schema, 'open')).toBe(expected));

  it('leave an enum of a request closed', () => {
    expect(typeText({ type: 'string', enum: ['a', 'b'] }, 'closed')).toBe('"a" | "b"');
  });

  it('show an object with what is required, and not which of its properties go together', () => {
    const schema: TypeSchema = {
      type: 'object',
      properties: { a: { type: 'string', description: 'The first.' }, 'b-c': { type: 'number' } },
      required: ['a'],
      oneOf: [{ required: ['a'] }, { required: ['b-c'] }],
    };
    expect(typeText(schema, 'open')).toBe('{\n/** The first. */\nreadonly a: string;\nreadonly "b-c"?: number;\n}');
  });
});
