import { hashApiKey } from '@waypost/domain';
import type { ApiKeyRecord } from '@waypost/history-store';
import { timingSafeEqual } from 'node:crypto';
import type { Caller } from './caller.js';

export interface KeyDirectory {
  /** The caller that this key belongs to, or null. */
  find(key: string): Promise<Caller | null>;
}

export interface KeyDirectoryDeps {
  readonly findApiKey: (hash: Buffer) => Promise<ApiKeyRecord | null>;
  readonly now: () => number;
}

/** What keys look like; anything else is not asked for. */
const KEY_FORM = /^wp_[\w-]{22,128}$/;
/** For so long a revoked key may still be let in. */
const REMEMBER_MS = 3_000;
const MAX_REMEMBERED = 10_000;

/**
 * Finds callers by their key, remembering those found for a few seconds. What is not found is never remembered:
 * a key works the moment it is made.
 */
export function createKeyDirectory({ findApiKey, now }: KeyDirectoryDeps): KeyDirectory {
  const remembered = new Map<string, { caller: Caller; until: number }>();

  function remember(name: string, caller: Caller): void {
    if (remembered.size >= MAX_REMEMBERED) remembered.clear();
    remembered.set(name, { caller, until: now() + REMEMBER_MS });
  }

  return {
    async find(key) {
      if (!KEY_FORM.test(key)) return null;
      const hash = hashApiKey(key);
      const name = hash.toString('base64');
      const known = remembered.get(name);
      if (known !== undefined && known.until > now()) return known.caller;
      const found = await findApiKey(hash);
      if (found === null || found.hash.length !== hash.length || !timingSafeEqual(found.hash, hash)) return null;
      const caller = { keyId: found.id, fleetId: found.fleetId, scopes: found.scopes };
      remember(name, caller);
      return caller;
    },
  };
}
