import { describe, expect, it } from '@jest/globals';
import { formatApiKey, formatCredential, hashApiKey } from '@waypost/domain';
import type { ApiKeyRecord, PortalSessionRecord } from '@waypost/management-store';
import { KeyDirectory } from './key-directory.js';

const KEY = formatApiKey(Buffer.alloc(32, 7));
const TOKEN = formatCredential('portalToken', Buffer.alloc(32, 7));
/** Far from what the monotonic clock says. */
const EPOCH_MS = Date.UTC(2026, 4, 4);

function build() {
  let [nowMs, setBackMs, lookupMs] = [0, 0, 0];
  const rows = new Map<string, ApiKeyRecord>();
  const sessions = new Map<string, PortalSessionRecord>();
  const admins = new Set(['admin-1']);
  const lookups: string[] = [];
  const findIn = <Row>(known: ReadonlyMap<string, Row>) => ({
    find: (hash: Buffer) => {
      lookups.push(hash.toString('hex'));
      const row = known.get(hash.toString('hex')) ?? null;
      nowMs += lookupMs;
      return Promise.resolve(row);
    },
  });
  const directory = new KeyDirectory(
    findIn(rows),
    findIn(sessions),
    admins,
    () => EPOCH_MS + nowMs - setBackMs,
    () => nowMs,
  );
  const hash = hashApiKey(KEY);
  return {
    directory,
    lookups,
    advance: (ms: number) => void (nowMs += ms),
    /** How long the store takes to say what it knew when it was asked. */
    slowDown: (ms: number) => void (lookupMs = ms),
    setBack: (ms: number) => void (setBackMs += ms),
    make: () => void rows.set(hash.toString('hex'), { id: 'k1', fleetId: 'acme', hash, scopes: ['events:read'] }),
    revoke: () => rows.clear(),
    open: (lifeMs: number, adminKeyId: string | null = null) => {
      const session = { adminKeyId, id: 's1', fleetId: 'acme', hash: hashApiKey(TOKEN), scopes: ['events:read'] };
      sessions.set(hashApiKey(TOKEN).toString('hex'), {
        ...session,
        subscriptionIds: ['a'],
        expiresAt: EPOCH_MS + lifeMs,
      });
    },
    end: () => sessions.clear(),
    forgetAdmin: () => admins.clear(),
  };
}

describe('the key directory', () => {
  it('asks the store by hash only, and not again for a few seconds', async () => {
    const { directory, lookups, advance, make } = build();
    make();
    expect(await directory.find(KEY)).toMatchObject({ type: 'api_key', keyId: 'k1', fleetId: 'acme' });
    await directory.find(KEY);
    expect(lookups).toEqual([hashApiKey(KEY).toString('hex')]);
    advance(3_000);
    await directory.find(KEY);
    expect(lookups).toHaveLength(2);
  });

  it('trusts a result no longer because the clock was set back', async () => {
    const { directory, advance, setBack, make, revoke } = build();
    make();
    await directory.find(KEY);
    revoke();
    setBack(3_600_000);
    advance(3_000);
    expect(await directory.find(KEY)).toBeNull();
  });

  it('knows a key the moment it is made', async () => {
    const { directory, make } = build();
    expect(await directory.find(KEY)).toBeNull();
    make();
    expect(await directory.find(KEY)).not.toBeNull();
  });

  it('ends a session with the admin key that made it (R-42)', async () => {
    const { directory, advance, open, forgetAdmin } = build();
    open(60_000, 'admin-1');
    expect(await directory.find(TOKEN)).toMatchObject({ type: 'portal_session', fleetId: 'acme' });
    forgetAdmin();
    advance(500);
    expect(await directory.find(TOKEN)).toBeNull();
  });

  it('calls a key a guess unless it was found once, or is being asked for, or cannot be one', async () => {
    const { directory, advance, make, revoke } = build();
    expect(directory.isGuess(KEY)).toBe(true);
    expect(directory.isGuess('wp_short')).toBe(false);
    const asking = directory.find(KEY);
    expect(directory.isGuess(KEY)).toBe(false);
    await asking;
    expect(directory.isGuess(KEY)).toBe(true);

    make();
    await directory.find(KEY);
    advance(24 * 3_600_000);
    expect(directory.isGuess(KEY)).toBe(false);

    revoke();
    await directory.find(KEY);
    expect(directory.isGuess(KEY)).toBe(true);
  });

  it('asks once for a key that many bring at the same time', async () => {
    const { directory, lookups, make } = build();
    make();
    const found = await Promise.all(Array.from({ length: 20 }, () => directory.find(KEY)));
    expect(found.every((caller) => caller?.keyId === 'k1')).toBe(true);
    expect(lookups).toHaveLength(1);
  });

  it('forgets a revoked key within 3 seconds', async () => {
    const { directory, advance, make, revoke } = build();
    make();
    await directory.find(KEY);
    revoke();
    advance(3_000);
    expect(await directory.find(KEY)).toBeNull();
  });

  it('forgets a revoked portal session in less than a second (R-42)', async () => {
    const { directory, advance, open, end } = build();
    open(3_600_000);
    expect(await directory.find(TOKEN)).toMatchObject({ type: 'portal_session', keyId: 's1', subscriptionIds: ['a'] });
    end();
    advance(999);
    expect(await directory.find(TOKEN)).toBeNull();
  });

  it('trusts an answer from when it was asked for: what is revoked while a slow store answers ends as soon', async () => {
    const { directory, advance, slowDown, open, end } = build();
    open(3_600_000);
    slowDown(400);
    await directory.find(TOKEN);
    end();
    slowDown(0);
    advance(100);
    expect(await directory.find(TOKEN)).toBeNull();
  });

  it('asks for a portal session again at the moment of its end (R-42)', async () => {
    const { directory, lookups, advance, open } = build();
    open(100);
    await directory.find(TOKEN);
    advance(99);
    await directory.find(TOKEN);
    expect(lookups).toHaveLength(1);
    advance(1);
    await directory.find(TOKEN);
    expect(lookups).toHaveLength(2);
  });
});
