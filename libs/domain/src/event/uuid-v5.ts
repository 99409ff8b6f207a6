import { hash } from 'node:crypto';

/** A UUID that follows from its namespace, itself a UUID, and a name (RFC 9562, 5.5). */
export function uuidV5(namespace: string, name: string): string {
  // At a third of the cost of a hash object, and ids are made for every delivery.
  const bytes = Buffer.concat([Buffer.from(namespace.replaceAll('-', ''), 'hex'), Buffer.from(name)]);
  const hex = hash('sha1', bytes, 'hex');
  const variant = ((parseInt(hex.slice(16, 18), 16) & 0x3f) | 0x80).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-${variant}${hex.slice(18, 20)}-${hex.slice(20, 32)}`;
}
