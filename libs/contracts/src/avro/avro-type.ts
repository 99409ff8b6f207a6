import avro from 'avsc';

/** How a reader treats an optional long beyond 2^52. */
export type LargeOptionalLongs = 'refused' | 'not_reported';

/**
 * The avsc type of a schema, the same for readers and writers: unions hold plain values, logical types stay numbers,
 * and records carry no methods. Throws on a schema that is not valid Avro.
 */
export function avroTypeOf(schema: object, largeOptionalLongs: LargeOptionalLongs = 'refused'): avro.Type {
  const hook = (node: unknown, options: unknown): avro.Type | undefined => {
    if (isMap(node)) return new OwnKeysMapType(node, options);
    return largeOptionalLongs === 'not_reported' && isOptionalLong(node) ? reportedLong() : undefined;
  };
  return avro.Type.forSchema(schema as avro.Schema, {
    wrapUnions: false,
    omitRecordMethods: true,
    logicalTypes: {},
    typeHook: hook,
  });
}

interface MapTap {
  readLong(): number;
  skipLong(): void;
  readString(): string;
}

/**
 * avsc assigns a map's entries, so one with the key `__proto__` would be lost. Here every entry is an own property.
 * Depends on the same internals as strict-avro-reader.ts.
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

/** Depends on the same internals. */
class ReportedLongType extends avro.types.LongType {
  _read(tap: { readReportedLong(): number | null }): number | null {
    return tap.readReportedLong();
  }
}

function reportedLong(): avro.Type {
  const typeHook = (node: unknown): avro.Type | undefined => (node === 'long' ? new ReportedLongType() : undefined);
  return avro.Type.forSchema(['null', 'long'], { wrapUnions: false, typeHook });
}

function isOptionalLong(node: unknown): boolean {
  return Array.isArray(node) && node.length === 2 && node[0] === 'null' && node[1] === 'long';
}

function isMap(node: unknown): node is avro.Schema {
  return typeof node === 'object' && node !== null && 'type' in node && node.type === 'map';
}
