import { openHeaderValue } from '@waypost/domain';
import type { DirectorySubscription } from '../subscriptions/subscription-directory.js';

/** The headers that the owner of a subscription adds, by name; null: a secret one cannot be opened. */
export type CustomHeaders = (subscription: DirectorySubscription) => Readonly<Record<string, string>> | null;

/** Opens the secret values once per version of a subscription. */
export function createCustomHeaders(sealingKeys: readonly Buffer[]): CustomHeaders {
  const opened = new WeakMap<DirectorySubscription, Readonly<Record<string, string>> | null>();
  return (subscription) => {
    if (subscription.headers.length === 0) return NONE;
    const known = opened.get(subscription);
    if (known !== undefined) return known;
    const headers = openAll(subscription, sealingKeys);
    opened.set(subscription, headers);
    return headers;
  };
}

const NONE = Object.freeze({});

function openAll(
  { id, headers }: DirectorySubscription,
  sealingKeys: readonly Buffer[],
): Readonly<Record<string, string>> | null {
  // Has no prototype, so that every name is just a header.
  const values = Object.create(null) as Record<string, string>;
  for (const { name, value, sealedValue } of headers) {
    if (sealedValue === null) {
      values[name] = value ?? '';
      continue;
    }
    const result = openHeaderValue(sealedValue, sealingKeys, { subscriptionId: id, name });
    if (result.type !== 'opened') return null;
    values[name] = result.plaintext.toString();
  }
  return values;
}
