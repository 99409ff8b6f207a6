import { createHash } from 'node:crypto';
import type { Request } from 'express';

/** The same for requests that ask for the same: the order of fields in the body does not matter. */
export function requestFingerprint(request: Pick<Request, 'path' | 'body'>): string {
  const asked = JSON.stringify([request.path.toLowerCase(), canonical(request.body)]);
  return createHash('sha256').update(asked).digest('base64url');
}

function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical);
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  // Pairs, not an object: a field may be called __proto__.
  return { fields: fields.map(([name, inner]) => [name, canonical(inner)]) };
}
