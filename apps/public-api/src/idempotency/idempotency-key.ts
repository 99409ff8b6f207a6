import type { Request } from 'express';
import { invalidHeader } from '../errors/api-error.js';

export const MAX_KEY_LENGTH = 255;
/** Printable ASCII, so that it is the same text everywhere; also the `pattern` of the OpenAPI document. */
export const KEY_PATTERN = '^[!-~]([ -~]*[!-~])?$';
const KEY_FORM = new RegExp(KEY_PATTERN);

/** The `Idempotency-Key` of the request, or null. @throws ApiError 400 for an unusable one */
export function idempotencyKey(request: Pick<Request, 'headers'>): string | null {
  const header = request.headers['idempotency-key'];
  if (header === undefined) return null;
  const key = String(header);
  if (key.length <= MAX_KEY_LENGTH && KEY_FORM.test(key)) return key;
  throw invalidHeader('Idempotency-Key', `must be 1 to ${String(MAX_KEY_LENGTH)} printable ASCII characters`);
}
