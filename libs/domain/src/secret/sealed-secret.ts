import { createCipheriv, createDecipheriv } from 'node:crypto';
import { DomainError } from '../domain-error.js';

const ALGORITHM = 'aes-256-gcm';
const VERSION = 'v1';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export type OpenedSecret =
  | { readonly type: 'opened'; readonly plaintext: Buffer }
  /** `not_authentic`: sealed under another key or for another context, or changed since. */
  | { readonly type: 'unreadable'; readonly reason: 'malformed' | 'unknown_version' | 'not_authentic' };

/**
 * AES-256-GCM, as `v1.<nonce>.<ciphertext and tag>`, both base64url.
 * @param nonce 12 random bytes; one nonce used twice under one key gives both secrets away
 * @param context what the secret belongs to: no other context opens it, so a sealed secret cannot be moved
 */
export function sealSecret(plaintext: Buffer | string, key: Buffer, nonce: Buffer, context: string): string {
  requireKey(key);
  if (nonce.length !== NONCE_BYTES) {
    throw new DomainError('bad_nonce', `A nonce has ${String(NONCE_BYTES)} bytes, not ${String(nonce.length)}.`);
  }
  const cipher = createCipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES }).setAAD(Buffer.from(context));
  const bytes = typeof plaintext === 'string' ? Buffer.from(plaintext) : plaintext;
  const ciphertext = Buffer.concat([cipher.update(bytes), cipher.final(), cipher.getAuthTag()]);
  return [VERSION, nonce.toString('base64url'), ciphertext.toString('base64url')].join('.');
}

export function openSecret(sealed: string, key: Buffer, context: string): OpenedSecret {
  requireKey(key);
  const [version, nonceText, ciphertextText, ...more] = sealed.split('.');
  if (version !== VERSION) return { type: 'unreadable', reason: 'unknown_version' };
  const nonce = decodeBase64url(nonceText ?? '');
  const ciphertext = decodeBase64url(ciphertextText ?? '');
  if (nonce?.length !== NONCE_BYTES || ciphertext === null || ciphertext.length < TAG_BYTES || more.length > 0) {
    return { type: 'unreadable', reason: 'malformed' };
  }
  const plaintext = decipher(ciphertext, key, nonce, context);
  return plaintext === null ? { type: 'unreadable', reason: 'not_authentic' } : { type: 'opened', plaintext };
}

function decipher(ciphertext: Buffer, key: Buffer, nonce: Buffer, context: string): Buffer | null {
  const tagStart = ciphertext.length - TAG_BYTES;
  const decipheriv = createDecipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES })
    .setAAD(Buffer.from(context))
    .setAuthTag(ciphertext.subarray(tagStart));
  const start = decipheriv.update(ciphertext.subarray(0, tagStart));
  try {
    return Buffer.concat([start, decipheriv.final()]);
  } catch {
    // final() reports a wrong tag by throwing.
    return null;
  }
}

function requireKey(key: Buffer): void {
  if (key.length === KEY_BYTES) return;
  const found = String(key.length);
  throw new DomainError(
    'bad_key',
    `The sealing key has ${found} bytes instead of ${String(KEY_BYTES)}: make one with "openssl rand -base64 32".`,
  );
}

function signingContext(subscriptionId: string): string {
  return `subscription-secret:${subscriptionId}`;
}
function clientContext(subscriptionId: string): string {
  return `subscription-client-secret:${subscriptionId}`;
}

export function sealSigningSecret(secret: Buffer, key: Buffer, nonce: Buffer, subscriptionId: string): string {
  return sealSecret(secret, key, nonce, signingContext(subscriptionId));
}

export function openSigningSecret(sealed: string, key: Buffer, subscriptionId: string): OpenedSecret {
  return openSecret(sealed, key, signingContext(subscriptionId));
}

export function sealClientSecret(secret: string, key: Buffer, nonce: Buffer, subscriptionId: string): string {
  return sealSecret(secret, key, nonce, clientContext(subscriptionId));
}

export function openClientSecret(sealed: string, key: Buffer, subscriptionId: string): OpenedSecret {
  return openSecret(sealed, key, clientContext(subscriptionId));
}

/** null: not base64url without padding. Node's decoder skips unknown characters, so several texts would mean the same bytes. */
export function decodeBase64url(text: string): Buffer | null {
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : null;
}
