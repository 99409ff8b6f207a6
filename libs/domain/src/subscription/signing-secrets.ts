import type { SealedSecret } from './webhook-subscription.js';

/** The secrets that sign at a time, newest first: the current one and, after a rotation, those not yet expired. */
export function validSigningSecrets(secrets: readonly SealedSecret[], nowMs: number): SealedSecret[] {
  return secrets.filter(({ expiresAt }) => expiresAt === null || expiresAt > nowMs);
}
