import { createHash } from 'node:crypto';

const DIGITS = 24;

/** Short, as there is one for each of hundreds of thousands of bodies. */
export function bodyHash(body: Buffer | string): string {
  return createHash('sha256').update(body).digest('hex').slice(0, DIGITS);
}
