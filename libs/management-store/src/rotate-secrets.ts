import type { SealedSecret } from '@waypost/domain';
import type { SecretRotation } from './subscription-store.js';

export type RotatedSecrets =
  | { readonly type: 'rotated'; readonly secrets: readonly SealedSecret[] }
  /** `retryAt`: when the first of the old ones stops signing. */
  | { readonly type: 'too_many_secrets'; readonly retryAt: number };

const MAX_SECRETS = 8;

/** The new secret first, then those that still sign; expired ones are dropped. */
export function rotateSecrets(
  secrets: readonly SealedSecret[],
  { sealed, oldSignsUntil, nowMs }: SecretRotation,
): RotatedSecrets {
  const old = secrets
    .filter((secret) => secret.expiresAt === null || secret.expiresAt > nowMs)
    .map((secret) => ({ ...secret, expiresAt: secret.expiresAt ?? oldSignsUntil }));
  if (old.length >= MAX_SECRETS) {
    return { type: 'too_many_secrets', retryAt: Math.min(...old.map((secret) => secret.expiresAt)) };
  }
  return { type: 'rotated', secrets: [{ sealed, expiresAt: null }, ...old] };
}
