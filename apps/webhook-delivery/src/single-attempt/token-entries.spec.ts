import { setMaxListeners } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { rigAuth } from '../../../../test/support/attempt-rig.js';
import { ClientCredentialsTokens } from './bearer-tokens.js';

const KIBIBYTE = 1_024;
const wait = { withinMs: 5_000, signal: new AbortController().signal };
setMaxListeners(0, wait.signal); // one for each caller that waits

/** Subscriptions are named `fleet/subscription`. */
function build({ maxSubscriptions = 1_000, maxBytes = 1_000 * KIBIBYTE, lifetimeS = 3_600, tokenBytes = KIBIBYTE }) {
  let passedMs = 0;
  const requests: string[] = [];
  const tokens = new ClientCredentialsTokens({
    egress: {
      post: ({ owner }) => {
        requests.push(owner?.id ?? '');
        const body = JSON.stringify({ access_token: 'x'.repeat(tokenBytes), expires_in: lifetimeS });
        return Promise.resolve({
          ...{ type: 'response', statusCode: 200, headers: {}, body: Buffer.from(body), truncated: false },
        });
      },
      close: () => Promise.resolve(),
    },
    permits: { during: (_owner, _origin, work) => work() },
    fleetOf: (id) => id.split('/')[0] ?? '',
    isWanted: () => true,
    sealingKeys: [Buffer.alloc(32, 3)],
    nowMs: () => 0,
    monotonicMs: () => passedMs,
    maxSubscriptions,
    maxBytes,
  });
  const auths = new Map<string, ReturnType<typeof rigAuth>>();
  const authOf = (id: string): ReturnType<typeof rigAuth> => {
    const auth = auths.get(id) ?? rigAuth(id, 'https://login.example/token');
    auths.set(id, auth);
    return auth;
  };
  const send = (id: string) => tokens.tokenFor(id, authOf(id), wait);
  const isCached = (id: string): boolean => tokens.cached(id, authOf(id)) !== undefined;
  return { tokens, requests, send, isCached, passMs: (ms: number) => void (passedMs += ms) };
}

function idsOf(fleet: string, count: number): string[] {
  return Array.from({ length: count }, (_, n) => `${fleet}/${String(n)}`);
}

describe('the tokens in memory (R-26)', () => {
  it('of a fleet that has many make room for those of others, the ones with the oldest requests first', async () => {
    const { send, isCached, requests } = build({ maxBytes: 20 * KIBIBYTE });
    await send('small/0');
    for (const id of idsOf('large', 100)) await send(id);
    expect(isCached('small/0')).toBe(true);
    const cached = idsOf('large', 100).filter(isCached);
    expect(cached.length).toBeGreaterThan(15);
    expect(cached.length).toBeLessThan(20);
    expect(cached.at(-1)).toBe('large/99');
    await send('small/0');
    expect(requests.filter((id) => id === 'small/0')).toHaveLength(1);
  });

  it('are limited by bytes, whatever their number', async () => {
    const { send, isCached, tokens } = build({ maxBytes: 100 * KIBIBYTE, tokenBytes: 8 * KIBIBYTE });
    const ids = [...idsOf('first', 50), ...idsOf('second', 50)];
    for (const id of ids) await send(id);
    expect(ids.filter(isCached)).toHaveLength(12);
    expect(idsOf('first', 50).filter(isCached)).toHaveLength(6);
    expect(tokens.size).toBe(12);
  });

  it('count for their bytes once, however often they were renewed', async () => {
    const { send, isCached, passMs } = build({ maxBytes: 10 * KIBIBYTE, lifetimeS: 600 });
    for (let renewals = 0; renewals < 50; renewals++) {
      await send('fleet/0');
      expect(isCached('fleet/0')).toBe(true);
      passMs(600_000);
      expect(isCached('fleet/0')).toBe(false);
    }
    const ids = idsOf('other', 9);
    for (const id of ids) await send(id);
    expect(ids.filter(isCached)).toHaveLength(9);
  });

  it('are limited by subscriptions, those without a token included: the fleet with most of them has to give way', async () => {
    const { send, isCached, tokens } = build({ maxSubscriptions: 10 });
    await send('small/0');
    for (const id of idsOf('large', 100)) await send(id);
    expect(isCached('small/0')).toBe(true);
    expect(tokens.size).toBe(10);
  });

  it('are dropped when they have expired, even if no attempt asks for them again', async () => {
    const { send, tokens, passMs } = build({ lifetimeS: 600 });
    for (const id of idsOf('gone', 50)) await send(id);
    passMs(600_000);
    for (const id of idsOf('other', 20)) await send(id);
    expect(tokens.size).toBeLessThanOrEqual(21);
  });

  it('are no longer than 8 KiB: a longer one is refused', async () => {
    const { send, isCached } = build({ tokenBytes: 8 * KIBIBYTE + 1 });
    const detail = 'the access_token is longer than 8192 bytes';
    expect(await send('fleet/0')).toEqual({ type: 'failed', detail });
    expect(isCached('fleet/0')).toBe(false);
  });
});
