import {
  EXTENSIBLE_ENUM,
  type Operation,
  type Parameter,
  type Schema,
} from '../../../apps/public-api/src/openapi/openapi.types.js';

interface Field {
  readonly name: string;
  readonly schema: Schema;
  readonly isRequired: boolean;
}

type Schemas = Readonly<Record<string, Schema>>;

export function parameterTable(parameters: readonly Parameter[]): string[] {
  if (parameters.length === 0) return [];
  const row = ({ name, in: place, required, description, schema }: Parameter): string => {
    const needed = required === true && place !== 'path' ? ['Required.'] : [];
    return cells([`\`${name}\``, place, [description, ...limits({ ...schema, description }), ...needed].join(' ')]);
  };
  return ['', '| Parameter | In | |', '| --- | --- | --- |', ...parameters.map(row)];
}

/** The fields of a JSON body, and an example of it. Fields of objects and of items have a path as their name. */
export function bodyTable({ requestBody }: Operation, schemas: Schemas): string[] {
  const { content } = (requestBody ?? {}) as { readonly content?: Readonly<Record<string, Body>> };
  const body = content?.['application/json'];
  if (body === undefined) return [];
  const row = ({ name, schema, isRequired }: Field): string => {
    const { description = '' } = schema as { description?: string };
    return cells([
      `\`${name}\``,
      typeOf(schema),
      [description, ...limits(schema), ...(isRequired ? ['Required.'] : [])].join(' ').trim(),
    ]);
  };
  const example = body.example === undefined ? [] : ['', '```json', JSON.stringify(body.example, null, 2), '```'];
  const rows = fieldsOf(resolved(body.schema, schemas), '').map(row);
  return ['', '| Field of the body | Type | |', '| --- | --- | --- |', ...rows, ...example];
}

interface Body {
  readonly schema: Schema;
  readonly example?: unknown;
}

function cells(texts: readonly string[]): string {
  return `| ${texts.map((text) => text.replaceAll('|', '\\|')).join(' | ')} |`;
}

function resolved(schema: Schema, schemas: Schemas): Schema {
  const { $ref } = schema as { $ref?: string };
  return $ref === undefined ? schema : (schemas[$ref.slice($ref.lastIndexOf('/') + 1)] ?? {});
}

function fieldsOf(schema: Schema, path: string): Field[] {
  const fields = new Map<string, Field>();
  for (const { properties = {}, required = [] } of alternativesOf(schema) as readonly ObjectSchema[])
    for (const [property, own] of Object.entries(properties)) {
      const name = `${path}${property}`;
      // Alternatives share their `type`, whose values are those of all of them.
      const known = fields.get(name);
      fields.set(name, {
        name,
        schema: known ? { ...own, enum: [...valuesOf(known.schema), ...valuesOf(own)], const: undefined } : own,
        isRequired: required.includes(property) && alternativesOf(schema).length === 1,
      });
    }
  return [...fields.values()].flatMap((field) => {
    const { items } = field.schema as { items?: Schema };
    const nested = items === undefined ? fieldsOf(field.schema, `${field.name}.`) : fieldsOf(items, `${field.name}[].`);
    return [field, ...nested];
  });
}

interface ObjectSchema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
}

/** Without null, which the description of a field mentions. */
function alternativesOf(schema: Schema): readonly Schema[] {
  const { anyOf, oneOf } = schema as { anyOf?: readonly Schema[]; oneOf?: readonly Schema[] };
  return (anyOf ?? oneOf)?.filter(({ type }) => type !== 'null') ?? [schema];
}

function typeOf(schema: Schema): string {
  const types = alternativesOf(schema).map((one) => {
    const { type = 'any', items } = one as { readonly type?: string; readonly items?: { readonly type?: string } };
    return type === 'array' && items?.type !== undefined ? `list of ${items.type}s` : type;
  });
  return [...new Set(types)].join(' or ').replace('list of arrays', 'list of lists');
}

function valuesOf(schema: Schema): readonly unknown[] {
  const { enum: values, const: value } = schema as { enum?: readonly unknown[]; const?: unknown };
  return values ?? (schema[EXTENSIBLE_ENUM] as readonly unknown[] | undefined) ?? (value === undefined ? [] : [value]);
}

/** What a schema says of its values that its description does not, in sentences. */
function limits(schema: Schema): string[] {
  const [alternative = schema] = alternativesOf(schema);
  const { default: preset, minimum, maximum, maxLength, maxItems, items } = alternative as Limits;
  const { description = '' } = schema as { readonly description?: string };
  const values = valuesOf(alternative).length > 0 ? valuesOf(alternative) : valuesOf(items ?? {});
  const isListed = values.every((value) => description.includes(String(value)));
  const code = (value: unknown): string => `\`${String(value)}\``;
  return [
    ...(isListed ? [] : [values.length === 1 ? `Only ${code(values[0])}.` : `One of ${values.map(code).join(', ')}.`]),
    ...(minimum === undefined || maximum === undefined ? [] : [`${number(minimum)} to ${number(maximum)}.`]),
    ...(maxLength === undefined || values.length > 0 ? [] : [`Up to ${number(maxLength)} characters.`]),
    ...(maxItems === undefined ? [] : [`Up to ${number(maxItems)} items.`]),
    ...(preset === undefined || description.includes('efault') ? [] : [`Default: ${code(preset)}.`]),
  ];
}

interface Limits {
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly items?: Schema;
}

function number(value: number): string {
  return value.toLocaleString('en-US');
}
