import type { SchemaRegistryPort } from '@waypost/contracts';

/** A registry that knows what it is given; ids count up from 1 over all subjects. */
export function createMemoryRegistry(): SchemaRegistryPort {
  const schemas: string[] = [];
  const idOf = (schema: object): number => {
    const text = JSON.stringify(schema);
    const known = schemas.indexOf(text);
    return known >= 0 ? known + 1 : schemas.push(text);
  };
  return {
    schemaById: (id) => {
      const text = schemas[id - 1];
      return Promise.resolve(
        text === undefined ? { type: 'unknown' } : { type: 'avro', schema: JSON.parse(text) as object },
      );
    },
    idOf: (_subject, schema) => Promise.resolve(idOf(schema)),
    register: (_subject, schema) => Promise.resolve(idOf(schema)),
    setCompatibility: () => Promise.resolve(),
  };
}
