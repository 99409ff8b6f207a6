import type { BearerAuth } from '@waypost/domain';
import type { IssuedToken, TokenResult } from './token-result.js';

/** What is known of the token of one subscription. */
export interface TokenEntry {
  /** A changed client or token URL must not go on with the old one's token. */
  auth: BearerAuth;
  issued: IssuedToken | undefined;
  request: Promise<TokenResult> | undefined;
  /** Of requests, in a row. */
  failures: number;
  lastFailure: string;
  /** Epoch milliseconds: nobody asks before. */
  askAgainAt: number;
}

export interface TokenEntries {
  /** undefined also when what is kept is another client's. */
  find(subscriptionId: string, auth: BearerAuth): TokenEntry | undefined;
  /** Whatever client it is of. */
  any(subscriptionId: string): TokenEntry | undefined;
  /** Called at each request for a token: the subscription that asked longest ago makes room. */
  keep(subscriptionId: string, entry: TokenEntry): void;
  readonly size: number;
}

/** Bounded, since nobody says which subscriptions will not come again. */
export const createTokenEntries = (maxSubscriptions: number): TokenEntries => {
  /** Who asked longest ago comes first: maps keep the order of insertion. */
  const entries = new Map<string, TokenEntry>();
  return {
    find: (subscriptionId, auth) => {
      const entry = entries.get(subscriptionId);
      if (entry === undefined || entry.auth === auth) return entry;
      if (!sameAuth(entry.auth, auth)) return undefined;
      // The next look-up of this version of the subscription need not compare.
      entry.auth = auth;
      return entry;
    },
    any: (subscriptionId) => entries.get(subscriptionId),
    keep: (subscriptionId, entry) => {
      entries.delete(subscriptionId);
      entries.set(subscriptionId, entry);
      for (const oldest of entries.keys()) {
        if (entries.size <= maxSubscriptions) return;
        entries.delete(oldest);
      }
    },
    get size() {
      return entries.size;
    },
  };
};

export const newTokenEntry = (auth: BearerAuth): TokenEntry => ({
  auth,
  issued: undefined,
  request: undefined,
  failures: 0,
  lastFailure: '',
  askAgainAt: 0,
});

const sameAuth = (a: BearerAuth, b: BearerAuth): boolean =>
  a.tokenUrl === b.tokenUrl &&
  a.clientId === b.clientId &&
  a.sealedClientSecret === b.sealedClientSecret &&
  a.scope === b.scope;
