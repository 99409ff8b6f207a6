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
 * Seals a secret with AES-256-GCM as `v1.<nonce>.<ciphertext and tag>`, both base64url.
 *
 * @param key 32 bytes
 * @param nonce 12 random bytes; the same nonce twice under one key gives both secrets away
 * @param context what the secret belongs to: only the same context opens it, so that a sealed secret cannot be moved
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

/** Opens what sealSecret made; `key` and `context` as given there. */
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
    // The tag does not fit: final() has no other way to say so.
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

/** What a subscription's secrets are sealed for: none of them opens as another's, nor one kind as the other. */
const signingContext = (subscriptionId: string): string => `subscription-secret:${subscriptionId}`;
const clientContext = (subscriptionId: string): string => `subscription-client-secret:${subscriptionId}`;

/**
 * Seals a signing secret.
 *
 * @param secret the bytes that sign, not their `whsec_` text
 * @param key 32 bytes
 * @param nonce 12 random bytes, never used before
 */
export function sealSigningSecret(secret: Buffer, key: Buffer, nonce: Buffer, subscriptionId: string): string {
  return sealSecret(secret, key, nonce, signingContext(subscriptionId));
}

/** The bytes that sign, for signatureHeaders. */
export function openSigningSecret(sealed: string, key: Buffer, subscriptionId: string): OpenedSecret {
  return openSecret(sealed, key, signingContext(subscriptionId));
}

/**
 * Seals the OAuth2 client secret of a subscription.
 *
 * @param key 32 bytes
 * @param nonce 12 random bytes, never used before
 */
export function sealClientSecret(secret: string, key: Buffer, nonce: Buffer, subscriptionId: string): string {
  return sealSecret(secret, key, nonce, clientContext(subscriptionId));
}

/** The client secret as UTF-8. */
export function openClientSecret(sealed: string, key: Buffer, subscriptionId: string): OpenedSecret {
  return openSecret(sealed, key, clientContext(subscriptionId));
}

/**
 * The bytes of a base64url text without padding, or null. Node's own decoder skips what it does not know, so that several
 * texts would stand for the same bytes.
 */
export function decodeBase64url(text: string): Buffer | null {
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : null;
}
