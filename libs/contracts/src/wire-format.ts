const magicByte = 0;

/** Bytes before the Avro data: the magic byte and the schema id, big-endian. */
export const wireHeaderBytes = 5;

/** The writer's schema id of a Confluent-framed value; null when the bytes are not in that format. */
export function schemaIdOf(value: Buffer): number | null {
  return schemaIdIn(value, 0, value.length);
}

/** The same, of the value that lies from `start` to `end` in `bytes`. */
export function schemaIdIn(bytes: Buffer, start: number, end: number): number | null {
  if (end - start < wireHeaderBytes || bytes[start] !== magicByte) return null;
  return bytes.readInt32BE(start + 1);
}

export function writeWireHeader(target: Buffer, schemaId: number): void {
  target[0] = magicByte;
  target.writeInt32BE(schemaId, 1);
}
