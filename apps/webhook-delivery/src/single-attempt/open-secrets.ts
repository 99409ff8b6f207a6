import { type AttemptResult, openSigningSecret, validSigningSecrets } from '@waypost/domain';
import type { ClientIdentity } from '@waypost/egress';
import type { DirectorySubscription } from '../subscriptions/subscription-directory.js';
import { createClientIdentities } from './client-identities.js';
import { createCustomHeaders } from './custom-headers.js';

export type OpenedSecrets =
  | {
      readonly type: 'opened';
      readonly signing: readonly Buffer[];
      readonly custom: Readonly<Record<string, string>>;
      readonly identity: ClientIdentity | undefined;
    }
  /** A secret cannot be opened, and nothing is sent without it. */
  | { readonly type: 'unreadable'; readonly result: AttemptResult };

/** Opens all sealed values of a subscription that an attempt needs. */
export function createSecretOpener(sealingKeys: readonly Buffer[]) {
  const signingKeys = createSigningKeys(sealingKeys);
  const customHeaders = createCustomHeaders(sealingKeys);
  const identities = createClientIdentities(sealingKeys);
  return (subscription: DirectorySubscription, nowMs: number): OpenedSecrets => {
    const signing = signingKeys(subscription, nowMs);
    if (signing.length === 0) return UNREADABLE_SECRET;
    const custom = customHeaders(subscription);
    if (custom === null) return UNREADABLE_HEADER;
    const identity = identities(subscription);
    if (identity === null) return UNREADABLE_CLIENT_KEY;
    return { type: 'opened', signing, custom, identity };
  };
}

/** Returns the unsealed secrets that sign for a subscription at a given time, newest first; empty if none can be opened. */
type SigningKeys = (subscription: DirectorySubscription, nowMs: number) => readonly Buffer[];

interface OpenedKeys {
  readonly keys: readonly Buffer[];
  /** When the last of the omitted secrets expired: a clock that was ahead may be set back. */
  readonly from: number;
  /** When the first of these secrets expires. */
  readonly until: number;
}

/** Opens the secrets once per version of a subscription, and again when others are valid. */
function createSigningKeys(sealingKeys: readonly Buffer[]): SigningKeys {
  const opened = new WeakMap<DirectorySubscription, OpenedKeys>();
  return (subscription, nowMs) => {
    let known = opened.get(subscription);
    if (known === undefined || nowMs < known.from || nowMs >= known.until) {
      known = openKeys(subscription, sealingKeys, nowMs);
      opened.set(subscription, known);
    }
    return known.keys;
  };
}

function openKeys({ id, secrets }: DirectorySubscription, sealingKeys: readonly Buffer[], nowMs: number): OpenedKeys {
  const valid = validSigningSecrets(secrets, nowMs);
  const keys = valid.flatMap(({ sealed }) => {
    const result = openSigningSecret(sealed, sealingKeys, id);
    return result.type === 'opened' ? [result.plaintext] : [];
  });
  const ends = secrets.map(({ expiresAt }) => expiresAt ?? Infinity);
  return {
    keys,
    from: Math.max(...ends.filter((end) => end <= nowMs)),
    until: Math.min(...ends.filter((end) => end > nowMs)),
  };
}

function unreadable(detail: string): OpenedSecrets {
  return { type: 'unreadable', result: Object.freeze({ type: 'error', errorCode: 'secret_unreadable', detail }) };
}

const UNREADABLE_SECRET = unreadable('no signing secret can be opened with the configured key');
const UNREADABLE_HEADER = unreadable('a secret header cannot be opened with the configured key');
const UNREADABLE_CLIENT_KEY = unreadable('the key of the client certificate cannot be opened with the configured key');
