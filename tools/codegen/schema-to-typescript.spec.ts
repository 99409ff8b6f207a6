import { describe, expect, it } from '@jest/globals';
import type { AvroRecord, AvroType } from '@waypost/contracts';
import { schemaToTypeScript } from './schema-to-typescript.js';

const timestamp = { type: 'long', logicalType: 'timestamp-millis' } as const;
const inner: AvroRecord = { type: 'record', name: 'InnerPart', fields: [{ name: 'x', type: 'int' }] };

function fieldOf(type: AvroType, doc?: string): string {
  const field = { name: 'field', type, ...(doc === undefined ? {} : { doc }) };
  const { recordTypes } = schemaToTypeScript('s-value', { type: 'record', name: 'Outer', fields: [field] });
  return /export interface Outer \{\n([\s\S]*?)\n\}/.exec(recordTypes)?.[1] ?? '';
}

describe('Generated types', () => {
  it.each<[string, AvroType, string]>([
    ['a string', 'string', 'string'],
    ['a long', 'long', 'number'],
    ['bytes', 'bytes', 'Buffer'],
    ['a nullable number', ['null', 'double'], 'number | null'],
    ['a list', { type: 'array', items: 'string' }, 'readonly string[]'],
    ['a list of nullable things', { type: 'array', items: ['null', 'string'] }, 'readonly (string | null)[]'],
    ['a nullable list', ['null', { type: 'array', items: 'string' }], 'readonly string[] | null'],
    ['a map', { type: 'map', values: 'string' }, 'Readonly<Record<string, string>>'],
    ['a nullable record', ['null', inner], 'InnerPart | null'],
  ])('show %s', (_what, type, expected) => expect(fieldOf(type)).toBe(`  readonly field: ${expected};`));

  it('say that a timestamp is in epoch milliseconds', () => {
    expect(fieldOf(timestamp)).toBe('  /** Epoch milliseconds. */\n  readonly field: number;');
    expect(fieldOf(['null', timestamp], 'Device clock.')).toBe(
      '  /** Device clock (epoch milliseconds). */\n  readonly field: number | null;',
    );
  });

  it('declare the records within a record, and embed the schema', () => {
    const schema: AvroRecord = { type: 'record', name: 'OuterThing', fields: [{ name: 'part', type: inner }] };
    const generated = schemaToTypeScript('outer-value', schema);
    expect(generated).toMatchObject({ fileName: 'outer-thing.ts', typeName: 'OuterThing' });
    expect(generated.recordTypes).toContain('export interface InnerPart {\n  readonly x: number;\n}');
    expect(generated.schemaConstant).toContain(`export const outerThingSchema = ${JSON.stringify(schema)} as const;`);
  });
});
