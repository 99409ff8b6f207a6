import avro from 'avsc';

/**
 * The avsc type of a schema, one way for readers and writers: unions hold plain values, logical types stay numbers,
 * and records carry no methods. Throws on a schema that is not valid Avro.
 */
export function avroTypeOf(schema: object): avro.Type {
  return avro.Type.forSchema(schema as avro.Schema, { wrapUnions: false, omitRecordMethods: true, logicalTypes: {} });
}
