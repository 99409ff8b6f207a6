import type { JsonSchema } from '@waypost/contracts';

/** JSON Schema as the OpenAPI document and the published schemas use it. */
export interface TypeSchema extends Omit<JsonSchema, 'type' | 'const' | 'properties' | 'additionalProperties'> {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly properties?: Readonly<Record<string, TypeSchema>>;
  readonly additionalProperties?: unknown;
  readonly items?: TypeSchema | false;
  readonly prefixItems?: readonly TypeSchema[];
  readonly oneOf?: readonly TypeSchema[];
  readonly anyOf?: readonly TypeSchema[];
  readonly default?: unknown;
  readonly 'x-extensible-enum'?: readonly unknown[];
}

/** How to treat an `enum`: those of the published schemas may gain values (R-43), those of the API are known. */
export type Enums = 'open' | 'closed';

const PRIMITIVES: Readonly<Record<string, string>> = {
  string: 'string',
  number: 'number',
  integer: 'number',
  boolean: 'boolean',
  null: 'null',
};

/** The TypeScript type of a value that the schema describes. */
export function typeText(schema: TypeSchema, enums: Enums = 'closed'): string {
  const { $ref, type, oneOf, anyOf } = schema;
  if ($ref !== undefined) return nameOf($ref);
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  const { 'x-extensible-enum': known } = schema;
  if (known !== undefined) return enumText(known, 'open');
  if (schema.enum !== undefined) return enumText(schema.enum, enums);
  const alternatives = (oneOf ?? anyOf ?? []).filter((one) => one.type !== undefined || one.$ref !== undefined);
  // Next to a type, `oneOf` only says which properties go together.
  if (type === undefined && alternatives.length > 0) return union(alternatives.map((one) => typeText(one, enums)));
  if (typeof type !== 'string') return union((type ?? []).map((one) => typeText({ ...schema, type: one }, enums)));
  if (type === 'array') return arrayText(schema, enums);
  if (type === 'object') return objectText(schema, enums);
  return PRIMITIVES[type] ?? 'unknown';
}

/** The name of the component that a reference names. */
export function nameOf(reference: string): string {
  return reference.slice(reference.lastIndexOf('/') + 1);
}

function enumText(values: readonly unknown[], enums: Enums): string {
  const literals = values.map((value) => JSON.stringify(value)).join(' | ');
  return enums === 'open' && values.every((value) => typeof value === 'string') ? `Open<${literals}>` : literals;
}

function union(types: readonly string[]): string {
  return types.length === 0 ? 'unknown' : [...new Set(types)].join(' | ');
}

function arrayText({ items, prefixItems }: TypeSchema, enums: Enums): string {
  if (prefixItems !== undefined) return `readonly [${prefixItems.map((item) => typeText(item, enums)).join(', ')}]`;
  return `readonly (${items === undefined || items === false ? 'unknown' : typeText(items, enums)})[]`;
}

function objectText({ properties = {}, required = [], additionalProperties }: TypeSchema, enums: Enums): string {
  if (Object.keys(properties).length === 0) {
    const value =
      typeof additionalProperties === 'object' ? typeText(additionalProperties as TypeSchema, enums) : 'unknown';
    return `Readonly<Record<string, ${value}>>`;
  }
  return `{\n${fieldsText(properties, required, enums)}\n}`;
}

/** The members of an object type, with the descriptions as comments. */
export function fieldsText(
  properties: Readonly<Record<string, TypeSchema>>,
  required: readonly string[],
  enums: Enums = 'closed',
): string {
  return Object.entries(properties)
    .map(([name, schema]) => {
      const key = /^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name);
      return `${commentText(schema.description)}readonly ${key}${required.includes(name) ? '' : '?'}: ${typeText(schema, enums)};`;
    })
    .join('\n');
}

export function commentText(text: string | undefined): string {
  if (text === undefined || text === '') return '';
  const lines = text.replaceAll('*/', '*\\/').split('\n');
  return lines.length === 1
    ? `/** ${lines.join('')} */\n`
    : `/**\n${lines.map((line) => ` * ${line}`).join('\n')}\n */\n`;
}
