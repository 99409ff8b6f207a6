import { openClientKey } from '@waypost/domain';
import { type ClientIdentity, clientIdentityOf } from '@waypost/egress';
import type { DirectorySubscription } from '../subscriptions/subscription-directory.js';

/** The certificate that a subscription shows if its receiver asks for one; undefined: none; null: its key cannot be opened. */
export type ClientIdentities = (subscription: DirectorySubscription) => ClientIdentity | null | undefined;

/** Opens the key once per version of a subscription. */
export function createClientIdentities(sealingKeys: readonly Buffer[]): ClientIdentities {
  const opened = new WeakMap<DirectorySubscription, ClientIdentity | null>();
  return (subscription) => {
    const { id, clientCertificate } = subscription;
    if (clientCertificate === null) return undefined;
    const known = opened.get(subscription);
    if (known !== undefined) return known;
    const key = openClientKey(clientCertificate.sealedKey, sealingKeys, id);
    const { certificates } = clientCertificate;
    const identity =
      key.type === 'opened' ? clientIdentityOf({ certificates, privateKey: key.plaintext.toString() }) : null;
    opened.set(subscription, identity);
    return identity;
  };
}
