import { type BearerAuth, formatSigningSecret, sealClientSecret, sealSigningSecret } from '@waypost/domain';
import type { AuthBody } from './subscription-body.js';

/** A signing secret in both its forms: `shown` to the caller once, `sealed` in the table and the topic. */
export interface NewSigningSecret {
  readonly shown: string;
  readonly sealed: string;
}

/** Seals the secrets of a subscription; what is sealed for one id opens for no other. */
export interface SubscriptionSealer {
  newSigningSecret(id: string): NewSigningSecret;
  /** null: deliveries do not authenticate themselves. */
  sealAuth(auth: AuthBody | undefined, id: string): BearerAuth | null;
}

export interface SubscriptionSealerDeps {
  /** 32 bytes: seals what must not be read in the table or the topic. */
  readonly sealingKey: Buffer;
  readonly randomBytes: (size: number) => Buffer;
}

const SECRET_BYTES = 32;
const NONCE_BYTES = 12;

export function createSubscriptionSealer({ sealingKey, randomBytes }: SubscriptionSealerDeps): SubscriptionSealer {
  return {
    newSigningSecret(id) {
      const bytes = randomBytes(SECRET_BYTES);
      const sealed = sealSigningSecret(bytes, sealingKey, randomBytes(NONCE_BYTES), id);
      return { shown: formatSigningSecret(bytes), sealed };
    },
    sealAuth(auth, id) {
      if (auth?.type !== 'bearer') return null;
      const { tokenUrl, clientId, clientSecret, scope = null } = auth;
      const sealedClientSecret = sealClientSecret(clientSecret, sealingKey, randomBytes(NONCE_BYTES), id);
      return { tokenUrl, clientId, sealedClientSecret, scope };
    },
  };
}
