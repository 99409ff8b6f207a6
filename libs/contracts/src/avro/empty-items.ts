import avro from 'avsc';

/**
 * Whether the type has an array, at any depth, whose items take no bytes: nulls, or records of nothing else.
 *
 * Hazard: a block of such an array may count 2^53 items in a few bytes. Reading or skipping them would keep the process
 * busy for years, and no bound on what is read could end it.
 */
export function hasEmptyItems(type: avro.Type, seen = new Set<avro.Type>()): boolean {
  if (seen.has(type)) return false;
  seen.add(type);
  if (avro.Type.isType(type, 'array')) {
    const { itemsType } = type as avro.types.ArrayType;
    return isEmpty(itemsType) || hasEmptyItems(itemsType, seen);
  }
  return partsOf(type).some((part) => hasEmptyItems(part, seen));
}

function partsOf(type: avro.Type): readonly avro.Type[] {
  if (avro.Type.isType(type, 'record')) return (type as avro.types.RecordType).fields.map((field) => field.type);
  if (avro.Type.isType(type, 'map')) return [(type as avro.types.MapType).valuesType as avro.Type];
  if (avro.Type.isType(type, 'union')) return [...(type as avro.types.UnwrappedUnionType).types];
  return [];
}

/** A record inside itself has no finite value: as one of no bytes it is refused too. */
function isEmpty(type: avro.Type, within: readonly avro.Type[] = []): boolean {
  if (type.typeName === 'null' || within.includes(type)) return true;
  return avro.Type.isType(type, 'record') && partsOf(type).every((part) => isEmpty(part, [...within, type]));
}
