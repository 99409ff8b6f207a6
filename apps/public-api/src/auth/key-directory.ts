import { timingSafeEqual } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { CREDENTIAL_PREFIXES, hashApiKey } from '@waypost/domain';
import { NewestMap } from '@waypost/egress';
import {
  type ApiKeyRecord,
  ApiKeyStore,
  type PortalSessionRecord,
  PortalSessionStore,
} from '@waypost/management-store';
import { CLOCK, MONOTONIC_CLOCK } from '@waypost/platform';
import { AdminKeys } from './admin-keys.js';
import type { Caller } from './caller.js';

/** The form of API keys and of the tokens of portal sessions; anything else is not looked up. */
const KEY_FORM = new RegExp(`^(${CREDENTIAL_PREFIXES.apiKey}|${CREDENTIAL_PREFIXES.portalToken})[\\w-]{22,128}$`);
/** How long a revoked key may still be admitted. */
export const TRUST_KEY_MS = 3_000;
/** A session is revoked within a second, in streams too, which ask now and then. */
const TRUST_SESSION_MS = 500;
/** Above this many keys, those found longest ago are forgotten. */
const MAX_FOUND = 10_000;

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
@Injectable()
export class KeyDirectory {
  private readonly found = new NewestMap<string, { caller: Caller; trustedUntilMs: number }>(MAX_FOUND);
  /** One lookup at a time per key, however many requests carry it. */
  private readonly underWay = new Map<string, Promise<Caller | null>>();

  constructor(
    @Inject(ApiKeyStore) private readonly apiKeys: Pick<ApiKeyStore, 'find'>,
    @Inject(PortalSessionStore) private readonly sessions: Pick<PortalSessionStore, 'find'>,
    @Inject(AdminKeys) private readonly admins: Pick<AdminKeys, 'has'>,
    @Inject(CLOCK) private readonly nowMs: () => number,
    @Inject(MONOTONIC_CLOCK) private readonly monotonicMs: () => number,
  ) {}

  /** Whether `find` would have to ask the store for a key that was never found: the cost of guessing. */
  isGuess(key: string): boolean {
    if (!KEY_FORM.test(key)) return false;
    const { name } = askedBy(key);
    return !this.found.has(name) && !this.underWay.has(name);
  }

  async find(key: string): Promise<Caller | null> {
    if (!KEY_FORM.test(key)) return null;
    const asked = askedBy(key);
    const known = this.found.get(asked.name);
    if (known !== undefined && known.trustedUntilMs > this.monotonicMs()) return known.caller;
    return this.underWay.get(asked.name) ?? this.askOnce(asked);
  }

  private askOnce(asked: Asked): Promise<Caller | null> {
    const asking = this.ask(asked).finally(() => this.underWay.delete(asked.name));
    this.underWay.set(asked.name, asking);
    return asking;
  }

  private async ask({ hash, name, isSession }: Asked): Promise<Caller | null> {
    const [askedAt, askedMs] = [this.nowMs(), this.monotonicMs()];
    const record = await (isSession ? this.sessions.find(hash, askedAt) : this.apiKeys.find(hash));
    this.found.delete(name);
    if (record === null || record.hash.length !== hash.length || !timingSafeEqual(record.hash, hash)) return null;
    if (this.hasEnded(record)) return null;
    const caller = callerOf(record);
    const leftMs = (caller.expiresAt ?? Infinity) - askedAt;
    const trustMs = Math.min(isSession ? TRUST_SESSION_MS : TRUST_KEY_MS, leftMs);
    this.found.set(name, { caller, trustedUntilMs: askedMs + trustMs });
    return caller;
  }

  /** A session ends with the key that made it: the store looks after API keys, the configuration has the admin keys. */
  private hasEnded(record: ApiKeyRecord | PortalSessionRecord): boolean {
    if (!('expiresAt' in record)) return false;
    const { adminKeyId } = record;
    return adminKeyId !== null && !this.admins.has(adminKeyId);
  }
}

function askedBy(key: string): Asked {
  const hash = hashApiKey(key);
  return { hash, name: hash.toString('base64'), isSession: key.startsWith(CREDENTIAL_PREFIXES.portalToken) };
}

function callerOf(record: ApiKeyRecord | PortalSessionRecord): Caller {
  const { id: keyId, fleetId, scopes } = record;
  if (!('expiresAt' in record)) {
    return { type: 'api_key', keyId, fleetId, scopes, subscriptionIds: null, expiresAt: null };
  }
  const { subscriptionIds, expiresAt } = record;
  return { type: 'portal_session', keyId, fleetId, scopes, subscriptionIds, expiresAt };
}
