const magicByte = 0;

/** Bytes before the Avro data: the magic byte and the schema id, big-endian. */
export const wireHeaderBytes = 5;

/** The writer's schema id of a Confluent-framed value; null when the bytes are not in that format. */
export function schemaIdOf(value: Buffer): number | null {
  if (value.length < wireHeaderBytes || value[0] !== magicByte) return null;
  return value.readInt32BE(1);
}

export function writeWireHeader(target: Buffer, schemaId: number): void {
  target[0] = magicByte;
  target.writeInt32BE(schemaId, 1);
}
