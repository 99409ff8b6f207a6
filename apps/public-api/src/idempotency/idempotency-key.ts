import type { Request } from 'express';
import { invalidHeader } from '../errors/api-error.js';

export const MAX_IDEMPOTENCY_KEY_LENGTH = 255;
/** Printable ASCII, so that it is the same text everywhere. */
const KEY = /^[\x21-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?$/;

/** The key that the request carries, or null. @throws ApiError 400 for what cannot be one */
export function idempotencyKey(request: Request): string | null {
  const header = request.headers['idempotency-key'];
  if (header === undefined) return null;
  const key = String(header);
  if (KEY.test(key)) return key;
  const most = String(MAX_IDEMPOTENCY_KEY_LENGTH);
  throw invalidHeader('Idempotency-Key', `must be 1 to ${most} printable ASCII characters`);
}
