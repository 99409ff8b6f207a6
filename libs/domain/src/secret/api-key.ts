import { createHash } from 'node:crypto';
import { DomainError } from '../domain-error.js';

/** Says what a credential is, to people and to scanners for leaked secrets. */
export const CREDENTIAL_PREFIXES = {
  apiKey: 'wp_',
  portalCode: 'wpc_',
  portalToken: 'wps_',
  adminKey: 'wpa_',
} as const;
const MIN_BYTES = 16;

export function formatApiKey(bytes: Buffer): string {
  return formatCredential('apiKey', bytes);
}

export function formatCredential(kind: keyof typeof CREDENTIAL_PREFIXES, bytes: Buffer): string {
  if (bytes.length < MIN_BYTES) {
    throw new DomainError(
      'bad_key',
      `An API key needs at least ${String(MIN_BYTES)} random bytes, or it can be guessed.`,
    );
  }
  return CREDENTIAL_PREFIXES[kind] + bytes.toString('base64url');
}

/** The only form in which a key is stored. A key is random and long, so no slower hash is needed. */
export function hashApiKey(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}
