import { createCipheriv, createDecipheriv, createHash } from 'node:crypto';
import { DomainError } from '../domain-error.js';

const ALGORITHM = 'aes-256-gcm';
const VERSION = 'v2';
const VERSION_WITHOUT_KEY_ID = 'v1';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Keys of 32 bytes, newest first: all of them open, the newest seals. */
export type Keys = readonly Buffer[];

export type OpenedSecret =
  | { readonly type: 'opened'; readonly plaintext: Buffer }
  /** `not_authentic`: sealed under another key or for another context, or changed since. */
  | { readonly type: 'unreadable'; readonly reason: 'malformed' | 'unknown_version' | 'unknown_key' | 'not_authentic' };

/** 8 hex digits, derived from the key so that no id can stand for two keys. @throws DomainError `bad_key` */
export function keyIdOf(key: Buffer): string {
  if (key.length !== KEY_BYTES) {
    const found = String(key.length);
    throw new DomainError(
      'bad_key',
      `A key has ${found} bytes instead of ${String(KEY_BYTES)}: make one with "openssl rand -base64 32".`,
    );
  }
  return createHash('sha256').update('waypost key id').update(key).digest('hex').slice(0, 8);
}

/** @throws DomainError `bad_key` */
export function newestKey(keys: Keys): Buffer {
  const [newest] = keys;
  if (newest === undefined) throw new DomainError('bad_key', 'Nothing can be sealed without a key: configure one.');
  return newest;
}

function sealedUnder(sealed: string): string | null {
  const [version, keyId] = sealed.split('.');
  return version === VERSION && keyId !== undefined ? keyId : null;
}

export function isSealedWithNewest(sealed: string, keys: Keys): boolean {
  return sealedUnder(sealed) === keyIdOf(newestKey(keys));
}

/**
 * AES-256-GCM, as `v2.<key id>.<nonce>.<ciphertext and tag>`, the last two base64url. Bound to its `context`.
 * @param nonce 12 random bytes; reusing a nonce under one key gives both secrets away
 */
export function sealSecret(plaintext: Buffer | string, keys: Keys, nonce: Buffer, context: string): string {
  const key = newestKey(keys);
  const keyId = keyIdOf(key);
  if (nonce.length !== NONCE_BYTES) {
    throw new DomainError('bad_nonce', `A nonce has ${String(NONCE_BYTES)} bytes, not ${String(nonce.length)}.`);
  }
  const cipher = createCipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES }).setAAD(Buffer.from(context));
  const bytes = typeof plaintext === 'string' ? Buffer.from(plaintext) : plaintext;
  const ciphertext = Buffer.concat([cipher.update(bytes), cipher.final(), cipher.getAuthTag()]);
  return [VERSION, keyId, nonce.toString('base64url'), ciphertext.toString('base64url')].join('.');
}

export function openSecret(sealed: string, keys: Keys, context: string): OpenedSecret {
  const ids = new Map(keys.map((key) => [keyIdOf(key), key]));
  const [version, ...parts] = sealed.split('.');
  if (version !== VERSION && version !== VERSION_WITHOUT_KEY_ID)
    return { type: 'unreadable', reason: 'unknown_version' };
  const keyId = version === VERSION ? parts.shift() : undefined;
  const [nonceText, ciphertextText, ...more] = parts;
  const nonce = decodeBase64url(nonceText ?? '');
  const ciphertext = decodeBase64url(ciphertextText ?? '');
  if (nonce?.length !== NONCE_BYTES || ciphertext === null || ciphertext.length < TAG_BYTES || more.length > 0) {
    return { type: 'unreadable', reason: 'malformed' };
  }
  const candidates = keyId === undefined ? keys : [ids.get(keyId)].filter((key) => key !== undefined);
  if (candidates.length === 0) return { type: 'unreadable', reason: 'unknown_key' };
  for (const key of candidates) {
    const plaintext = decipher(ciphertext, key, nonce, context);
    if (plaintext !== null) return { type: 'opened', plaintext };
  }
  return { type: 'unreadable', reason: 'not_authentic' };
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

function signingContext(subscriptionId: string): string {
  return `subscription-secret:${subscriptionId}`;
}
function clientContext(subscriptionId: string): string {
  return `subscription-client-secret:${subscriptionId}`;
}

function clientKeyContext(subscriptionId: string): string {
  return `subscription-client-key:${subscriptionId}`;
}

function headerContext(subscriptionId: string, name: string): string {
  return `subscription-header:${subscriptionId}:${name}`;
}

export function sealSigningSecret(secret: Buffer, keys: Keys, nonce: Buffer, subscriptionId: string): string {
  return sealSecret(secret, keys, nonce, signingContext(subscriptionId));
}

export function openSigningSecret(sealed: string, keys: Keys, subscriptionId: string): OpenedSecret {
  return openSecret(sealed, keys, signingContext(subscriptionId));
}

export function sealClientSecret(secret: string, keys: Keys, nonce: Buffer, subscriptionId: string): string {
  return sealSecret(secret, keys, nonce, clientContext(subscriptionId));
}

export function openClientSecret(sealed: string, keys: Keys, subscriptionId: string): OpenedSecret {
  return openSecret(sealed, keys, clientContext(subscriptionId));
}

/** The private key of a client certificate, PEM. */
export function sealClientKey(key: string, keys: Keys, nonce: Buffer, subscriptionId: string): string {
  return sealSecret(key, keys, nonce, clientKeyContext(subscriptionId));
}

export function openClientKey(sealed: string, keys: Keys, subscriptionId: string): OpenedSecret {
  return openSecret(sealed, keys, clientKeyContext(subscriptionId));
}

export function sealHeaderValue(
  value: string,
  keys: Keys,
  nonce: Buffer,
  header: { readonly subscriptionId: string; readonly name: string },
): string {
  return sealSecret(value, keys, nonce, headerContext(header.subscriptionId, header.name));
}

export function openHeaderValue(
  sealed: string,
  keys: Keys,
  header: { readonly subscriptionId: string; readonly name: string },
): OpenedSecret {
  return openSecret(sealed, keys, headerContext(header.subscriptionId, header.name));
}

/** null: not base64url without padding. Node's decoder skips unknown characters, so several texts would mean the same bytes. */
export function decodeBase64url(text: string): Buffer | null {
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : null;
}
