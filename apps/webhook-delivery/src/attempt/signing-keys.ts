import { openSigningSecret, validSigningSecrets, type WebhookSubscription } from '@waypost/domain';

/** The opened secrets that sign for a subscription at a time, newest first; none when none can be opened. */
export type SigningKeys = (subscription: WebhookSubscription, nowMs: number) => readonly Buffer[];

interface OpenedKeys {
  readonly keys: readonly Buffer[];
  /** When the first of them ends to sign. */
  readonly until: number;
}

/** Opens the secrets of each version of a subscription once, and again when one of them expires. */
export const createSigningKeys = (sealingKey: Buffer): SigningKeys => {
  const opened = new WeakMap<WebhookSubscription, OpenedKeys>();
  return (subscription, nowMs) => {
    let known = opened.get(subscription);
    if (known === undefined || known.until <= nowMs) {
      known = openKeys(subscription, sealingKey, nowMs);
      opened.set(subscription, known);
    }
    return known.keys;
  };
};

const openKeys = ({ id, secrets }: WebhookSubscription, sealingKey: Buffer, nowMs: number): OpenedKeys => {
  const valid = validSigningSecrets(secrets, nowMs);
  const keys = valid.flatMap(({ sealed }) => {
    const result = openSigningSecret(sealed, sealingKey, id);
    return result.type === 'opened' ? [result.plaintext] : [];
  });
  return { keys, until: Math.min(...valid.map(({ expiresAt }) => expiresAt ?? Infinity)) };
};
