import { timingSafeEqual } from 'node:crypto';
import { hashApiKey } from '@waypost/domain';
import type { ApiKeyRecord, PortalSessionRecord } from '@waypost/management-store';
import type { Caller } from './caller.js';

export interface KeyDirectory {
  /** Whether `find` would have to ask the store for a key that was never found: the cost of guessing. */
  isGuess(key: string): boolean;
  /** The caller of this key, or null. */
  find(key: string): Promise<Caller | null>;
}

export interface KeyDirectoryDeps {
  readonly findApiKey: (hash: Buffer) => Promise<ApiKeyRecord | null>;
  readonly findPortalSession: (hash: Buffer, nowMs: number) => Promise<PortalSessionRecord | null>;
  /** A session ends with the admin key that made it. */
  readonly isAdminKey: (keyId: string) => boolean;
  readonly now: () => number;
}

/** The form of API keys and of the tokens of portal sessions; anything else is not looked up. */
const KEY_FORM = /^wps?_[\w-]{22,128}$/;
/** How long a revoked key may still be admitted. */
const TRUST_KEY_MS = 3_000;
/** A session is revoked within a second, in streams too, which ask now and then. */
const TRUST_SESSION_MS = 500;
/** Above this many keys, those found longest ago are forgotten. */
const FORGET_ABOVE = 10_000;
const KEPT = 9_000;

/** A key as the store knows it: its SHA-256, also as text. */
interface Asked {
  readonly isSession: boolean;
  readonly hash: Buffer;
  readonly name: string;
}

/**
 * Finds callers by their key and trusts a result for a few seconds. Unknown keys are never remembered: a key works the
 * moment it is created. Known keys are remembered longer than they are trusted, to distinguish them from guesses.
 */
export function createKeyDirectory({ findApiKey, findPortalSession, isAdminKey, now }: KeyDirectoryDeps): KeyDirectory {
  const found = new Map<string, { caller: Caller; trustedUntil: number }>();
  /** One look-up at a time per key, however many requests carry it. */
  const underWay = new Map<string, Promise<Caller | null>>();

  async function ask({ hash, name, isSession }: Asked): Promise<Caller | null> {
    const askedAt = now();
    const record = await (isSession ? findPortalSession(hash, askedAt) : findApiKey(hash));
    found.delete(name);
    if (record === null || record.hash.length !== hash.length || !timingSafeEqual(record.hash, hash)) return null;
    if (hasEnded(record, isAdminKey)) return null;
    const caller = callerOf(record);
    if (found.size >= FORGET_ABOVE) makeRoom();
    const trustMs = isSession ? TRUST_SESSION_MS : TRUST_KEY_MS;
    found.set(name, { caller, trustedUntil: Math.min(askedAt + trustMs, caller.expiresAt ?? Infinity) });
    return caller;
  }

  function makeRoom(): void {
    // Many at once: deleting the first entry of a map again and again is slow.
    for (const oldest of found.keys()) {
      if (found.size <= KEPT) return;
      found.delete(oldest);
    }
  }

  function askOnce(asked: Asked): Promise<Caller | null> {
    const asking = ask(asked).finally(() => underWay.delete(asked.name));
    underWay.set(asked.name, asking);
    return asking;
  }

  return {
    isGuess(key) {
      if (!KEY_FORM.test(key)) return false;
      const { name } = askedBy(key);
      return !found.has(name) && !underWay.has(name);
    },
    async find(key) {
      if (!KEY_FORM.test(key)) return null;
      const asked = askedBy(key);
      const known = found.get(asked.name);
      if (known !== undefined && known.trustedUntil > now()) return known.caller;
      return underWay.get(asked.name) ?? askOnce(asked);
    },
  };
}

function askedBy(key: string): Asked {
  const hash = hashApiKey(key);
  return { hash, name: hash.toString('base64'), isSession: key.startsWith('wps_') };
}

/** A session ends with the key that made it: the store looks after API keys, the configuration has the admin keys. */
function hasEnded(record: ApiKeyRecord | PortalSessionRecord, isAdminKey: (keyId: string) => boolean): boolean {
  if (!('expiresAt' in record)) return false;
  const { adminKeyId } = record;
  return adminKeyId !== null && !isAdminKey(adminKeyId);
}

function callerOf(record: ApiKeyRecord | PortalSessionRecord): Caller {
  const { id: keyId, fleetId, scopes } = record;
  if (!('expiresAt' in record)) {
    return { type: 'api_key', keyId, fleetId, scopes, subscriptionIds: null, expiresAt: null };
  }
  const { subscriptionIds, expiresAt } = record;
  return { type: 'portal_session', keyId, fleetId, scopes, subscriptionIds, expiresAt };
}
