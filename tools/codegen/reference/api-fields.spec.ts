import { describe, expect, it } from '@jest/globals';
import type { Operation, Parameter, Schema } from '../../../apps/public-api/src/openapi/openapi.types.js';
import { bodyTable, parameterTable } from './api-fields.js';

function parameter(schema: Schema, description = 'A description.'): string | undefined {
  const one: Parameter = { name: 'one', in: 'query', description, schema };
  return parameterTable([one]).at(-1);
}

function bodyOf(properties: Readonly<Record<string, Schema>>, required: readonly string[] = []): string[] {
  const requestBody = { content: { 'application/json': { schema: { $ref: '#/components/schemas/Body' } } } };
  const operation: Operation = { operationId: 'put', summary: '', tags: [], responses: {}, requestBody };
  return bodyTable(operation, { Body: { type: 'object', properties, required } }).slice(3);
}

describe('the table of parameters', () => {
  it.each([
    ['the values', { type: 'string', enum: ['hour', 'day'] }, 'One of `hour`, `day`.'],
    ['the only value', { type: 'string', enum: ['body'] }, 'Only `body`.'],
    [
      'the range and the default',
      { type: 'integer', minimum: 1, maximum: 2000, default: 100 },
      '1 to 2,000. Default: `100`.',
    ],
    ['the length', { type: 'string', maxLength: 4096 }, 'Up to 4,096 characters.'],
    ['the number of items', { type: 'array', items: { type: 'string' }, maxItems: 20 }, 'Up to 20 items.'],
    ['the range of what may be null', { anyOf: [{ minimum: 1, maximum: 9 }, { type: 'null' }] }, '1 to 9.'],
  ] as const)('adds %s to the description', (_, schema, text) => {
    expect(parameter(schema)).toBe(`| \`one\` | query | A description. ${text} |`);
  });

  it('does not repeat what the description says', () => {
    const description = '`asc`, the default: newest last. `desc`: newest first.';
    expect(parameter({ enum: ['asc', 'desc'], default: 'asc' }, description)).toBe(
      `| \`one\` | query | ${description} |`,
    );
  });
});

describe('the table of a body', () => {
  it('says which fields are required', () => {
    const rows = bodyOf({ name: { type: 'string' }, color: { type: 'string', description: 'Any.' } }, ['name']);
    expect(rows).toEqual(['| `name` | string | Required. |', '| `color` | string | Any. |']);
  });

  it('shows the fields of objects and of items under their paths', () => {
    const center = { type: 'object', properties: { latitude: { type: 'number' } } };
    const headers = { type: 'array', items: { type: 'object', properties: { value: { type: 'string' } } } };
    expect(bodyOf({ center, headers })).toEqual([
      '| `center` | object |  |',
      '| `center.latitude` | number |  |',
      '| `headers` | list of objects |  |',
      '| `headers[].value` | string |  |',
    ]);
  });

  it('shows the fields of all alternatives, of which none is required', () => {
    const circle = {
      type: 'object',
      properties: { type: { const: 'circle' }, radius: { type: 'number' } },
      required: ['radius'],
    };
    const polygon = { type: 'object', properties: { type: { const: 'polygon' } } };
    expect(bodyOf({ shape: { oneOf: [circle, polygon] } })).toEqual([
      '| `shape` | object |  |',
      '| `shape.type` | any | One of `circle`, `polygon`. |',
      '| `shape.radius` | number |  |',
    ]);
  });
});
