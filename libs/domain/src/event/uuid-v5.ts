import { createHash } from 'node:crypto';

/** A UUID that follows from its namespace, itself a UUID, and a name (RFC 9562, 5.5). */
export function uuidV5(namespace: string, name: string): string {
  const hash = createHash('sha1').update(namespace.replaceAll('-', ''), 'hex').update(name).digest();
  const bytes = hash.subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x50, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
