import avro from 'avsc';

/**
 * The avsc type of a schema, one way for readers and writers: unions hold plain values, logical types stay numbers,
 * and records carry no methods. Throws on a schema that is not valid Avro.
 */
export function avroTypeOf(schema: object): avro.Type {
  return avro.Type.forSchema(schema as avro.Schema, {
    wrapUnions: false,
    omitRecordMethods: true,
    logicalTypes: {},
    typeHook: (node: unknown, options: unknown) => (isMap(node) ? new OwnKeysMapType(node, options) : undefined),
  });
}

interface MapTap {
  readLong(): number;
  skipLong(): void;
  readString(): string;
}

/**
 * avsc assigns a map's entries, so one with the key `__proto__` would be lost. Here every entry is a property of its
 * own. Leans on the same internals as strict-avro-reader.ts.
 */
class OwnKeysMapType extends avro.types.MapType {
  _read(tap: MapTap): Record<string, unknown> {
    const values = this.valuesType as { _read(tap: unknown): unknown };
    const entries: Record<string, unknown> = {};
    for (let left = blockEntries(tap); left > 0; left = blockEntries(tap)) {
      for (; left > 0; left--) {
        const key = tap.readString();
        Object.defineProperty(entries, key, {
          value: values._read(tap),
          enumerable: true,
          configurable: true,
          writable: true,
        });
      }
    }
    return entries;
  }
}

/** A negative count is followed by the block's size in bytes. */
function blockEntries(tap: MapTap): number {
  const count = tap.readLong();
  if (count >= 0) return count;
  tap.skipLong();
  return -count;
}

function isMap(node: unknown): node is avro.Schema {
  return typeof node === 'object' && node !== null && 'type' in node && node.type === 'map';
}
