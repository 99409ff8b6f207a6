import type { SealedSecret, WebhookSubscription } from '@waypost/domain';
import type { RotateSecretResult } from './subscription-results.js';

/** A new secret, and until when (epoch ms) the current one signs as well. */
export interface SecretRotation {
  readonly sealFor: (subscriptionId: string) => string;
  readonly oldSignsUntil: number;
  readonly nowMs: number;
}

const MAX_SECRETS = 8;

type RotatedSecrets =
  | { readonly type: 'rotated'; readonly secrets: readonly SealedSecret[] }
  | Extract<RotateSecretResult, { type: 'too_many_secrets' }>;

/** The new secret first, then those that still sign; expired ones are dropped. */
export function rotateSecrets(
  { id, secrets }: WebhookSubscription,
  { sealFor, oldSignsUntil, nowMs }: SecretRotation,
): RotatedSecrets {
  const old = secrets
    .filter((secret) => secret.expiresAt === null || secret.expiresAt > nowMs)
    .map((secret) => ({ ...secret, expiresAt: secret.expiresAt ?? oldSignsUntil }));
  if (old.length >= MAX_SECRETS) {
    return { type: 'too_many_secrets', retryAt: Math.min(...old.map((secret) => secret.expiresAt)) };
  }
  return { type: 'rotated', secrets: [{ sealed: sealFor(id), expiresAt: null }, ...old] };
}
