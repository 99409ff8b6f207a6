import { openSecret, sealSecret, type OpenedSecret } from './sealed-secret.js';

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
