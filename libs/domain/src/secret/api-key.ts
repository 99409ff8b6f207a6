import { createHash, timingSafeEqual } from 'node:crypto';
import { DomainError } from '../domain-error.js';

const PREFIX = 'wp_';
const MIN_BYTES = 16;

/** An API key as its owner sees it. @param bytes random, 32 of them by custom */
export function formatApiKey(bytes: Buffer): string {
  if (bytes.length < MIN_BYTES) {
    throw new DomainError(
      'bad_key',
      `An API key needs at least ${String(MIN_BYTES)} random bytes, or it can be guessed.`,
    );
  }
  return PREFIX + bytes.toString('base64url');
}

/** SHA-256, the only form in which a key is stored. A key is random and long, so nothing slower is called for. */
export function hashApiKey(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}

/** Takes as long for any two keys, equal or not. */
export function apiKeysEqual(left: string, right: string): boolean {
  return timingSafeEqual(hashApiKey(left), hashApiKey(right));
}
