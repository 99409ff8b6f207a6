import type { AvroField, AvroPrimitive, AvroRecord, AvroType } from '@waypost/contracts';

/** The code of one schema; its record types are not yet formatted. */
export interface GeneratedCode {
  readonly fileName: string;
  readonly typeName: string;
  /** An interface for each of its records. */
  readonly recordTypes: string;
  /** The schema as a one-line constant, so that a built application reads no file at run time. */
  readonly schemaConstant: string;
}

export const GENERATED_HEADER =
  '// Generated from schemas/*.avsc by "npm run codegen". Change the schema, not this file.';

const primitiveTypes: Readonly<Record<AvroPrimitive, string>> = {
  null: 'null',
  boolean: 'boolean',
  int: 'number',
  long: 'number',
  float: 'number',
  double: 'number',
  bytes: 'Buffer',
  string: 'string',
};

export function schemaToTypeScript(subject: string, schema: AvroRecord): GeneratedCode {
  const nested: AvroRecord[] = [];
  collectRecords(schema, nested);
  const constant = `${lowerFirst(schema.name)}Schema`;
  return {
    fileName: `${kebabCase(schema.name)}.ts`,
    typeName: schema.name,
    recordTypes: nested.map(interfaceOf).join('\n\n'),
    schemaConstant: `/** The schema of subject ${subject}. */\nexport const ${constant} = ${JSON.stringify(schema)} as const;`,
  };
}

function collectRecords(type: AvroType, found: AvroRecord[]): void {
  if (typeof type === 'string') return;
  if (isUnion(type)) {
    for (const branch of type) collectRecords(branch, found);
    return;
  }
  switch (type.type) {
    case 'record':
      found.push(type);
      for (const field of type.fields) collectRecords(field.type, found);
      return;
    case 'array':
      collectRecords(type.items, found);
      return;
    case 'map':
      collectRecords(type.values, found);
      return;
    default:
      return;
  }
}

function interfaceOf(record: AvroRecord): string {
  const fields = record.fields.map(
    (field) => `${docOf(fieldDoc(field), '  ')}  readonly ${field.name}: ${tsType(field.type)};`,
  );
  return `${docOf(record.doc, '')}export interface ${record.name} {\n${fields.join('\n')}\n}`;
}

function fieldDoc(field: AvroField): string | undefined {
  if (!isTimestamp(field.type)) return field.doc;
  return field.doc === undefined ? 'Epoch milliseconds.' : `${field.doc.replace(/\.$/, '')} (epoch milliseconds).`;
}

function isTimestamp(type: AvroType): boolean {
  if (typeof type === 'string') return false;
  if (isUnion(type)) return type.some(isTimestamp);
  return 'logicalType' in type && type.logicalType === 'timestamp-millis';
}

function docOf(doc: string | undefined, indent: string): string {
  return doc === undefined ? '' : `${indent}/** ${doc.replaceAll('*/', '*\\/')} */\n`;
}

function tsType(type: AvroType): string {
  if (typeof type === 'string') return primitiveTypes[type];
  if (isUnion(type)) return unionType(type);
  switch (type.type) {
    case 'record':
      return type.name;
    case 'array':
      return arrayType(tsType(type.items));
    case 'map':
      return `Readonly<Record<string, ${tsType(type.values)}>>`;
    default:
      return primitiveTypes[type.type];
  }
}

/** null last, as in `string | null`. */
function unionType(branches: readonly AvroType[]): string {
  const names = branches.map(tsType);
  return [...names.filter((name) => name !== 'null'), ...names.filter((name) => name === 'null')].join(' | ');
}

function arrayType(item: string): string {
  return item.includes(' ') ? `readonly (${item})[]` : `readonly ${item}[]`;
}

function isUnion(type: AvroType): type is readonly AvroType[] {
  return Array.isArray(type);
}

function lowerFirst(name: string): string {
  return name.charAt(0).toLowerCase() + name.slice(1);
}

function kebabCase(name: string): string {
  return name.replaceAll(/(?<=[a-z0-9])(?=[A-Z])/g, '-').toLowerCase();
}
