import { EventEmitter, once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { EgressRequest, EgressResult } from '@waypost/egress';
import { type AttemptRig, rigAuth, rigSubscription, startAttemptRig } from '../../../../test/support/attempt-rig.js';
import { settlesWithin, until } from '../../../../test/support/until.js';
import { createSubscriptionIndex } from '../subscriptions/subscription-directory.js';
import { TOKEN_REQUESTS } from './attempt-limits.js';
import { ClientCredentialsTokens, wantsToken } from './bearer-tokens.js';

/** More than the HTTP client opens connections to an origin. */
const NEIGHBORS = 1_000;
/** While it alone wants permits at an origin, as many stay free. */
const ITS_SHARE = TOKEN_REQUESTS.perOrigin / 2;

let rig: AttemptRig;

/** Token endpoints and receivers are at one origin, as at a large provider. */
beforeEach(async () => {
  rig = await startAttemptRig(({ path }) => {
    if (path === '/silent-token') return { type: 'hang' };
    const token = { access_token: 'any', token_type: 'Bearer', expires_in: 3_600 };
    return { type: 'respond', status: 200, body: path === '/token' ? JSON.stringify(token) : '' };
  });
});
afterEach(() => rig.close());

function subscribe(id: string, fleetId: string, tokenPath: string | null): void {
  const auth = tokenPath === null ? null : rigAuth(id, rig.receiver.url(tokenPath));
  rig.put(rigSubscription(id, { url: rig.receiver.url('/hook'), auth, fleetId }));
}

describe('token requests that are never answered (R-26)', () => {
  it('of a fleet with a thousand subscriptions delay neither tokens nor deliveries of others at that origin', async () => {
    for (let n = 0; n < NEIGHBORS; n++) {
      subscribe(`neighbor-${String(n)}`, 'neighbor', '/silent-token');
      void rig.run(`neighbor-${String(n)}`);
    }
    await until(() => {
      expect(rig.receiver.callsTo('/silent-token').length).toBeGreaterThanOrEqual(ITS_SHARE);
    });
    subscribe('with-token', 'healthy', '/token');
    subscribe('without', 'healthy', null);

    const runs = await Promise.all([rig.run('with-token'), rig.run('without')]);

    expect(runs).toMatchObject(runs.map(() => ({ result: { statusCode: 200 } })));
    expect(rig.receiver.callsTo('/silent-token')).toHaveLength(ITS_SHARE);
  });

  it('end the attempts of those that wait for their turn as failures of the token, and say why', async () => {
    for (let n = 0; n < NEIGHBORS; n++) subscribe(`neighbor-${String(n)}`, 'neighbor', '/silent-token');
    for (let n = 0; n < NEIGHBORS - 1; n++) void rig.run(`neighbor-${String(n)}`);

    const last = await rig.run(`neighbor-${String(NEIGHBORS - 1)}`, { begunMsAgo: 4_500 });

    const detail = 'no token was requested in time, because too many other token requests are unanswered';
    expect(last).toMatchObject({ result: { type: 'error', errorCode: 'token_error', detail } });
  });
});

describe('a token request whose turn comes late (R-26)', () => {
  const TOKEN_URL = 'https://login.example/token';
  const auth = rigAuth('late', TOKEN_URL);

  /** Returns what is requested if the subscription has been changed while the request waited. */
  async function requestedAfter(change: (index: ReturnType<typeof createSubscriptionIndex>) => void) {
    const index = createSubscriptionIndex();
    index.put(rigSubscription('late', { auth }));
    const requests: EgressRequest[] = [];
    const post = (request: EgressRequest): Promise<EgressResult> => {
      requests.push(request);
      return Promise.resolve({ type: 'error', errorCode: 'timeout', detail: '' });
    };
    const queue = new EventEmitter();
    const turn = once(queue, 'turn');
    const tokens = new ClientCredentialsTokens({
      egress: { post, close: () => Promise.resolve() },
      permits: { during: (_owner, _origin, work) => turn.then(work) },
      fleetOf: () => 'fleet-1',
      isWanted: (id, wanted) => wantsToken(index.get(id), wanted),
      sealingKeys: [Buffer.alloc(32, 3)],
      nowMs: () => 0,
      monotonicMs: () => 0,
    });
    const result = tokens.tokenFor('late', auth, { withinMs: 5_000, signal: new AbortController().signal });
    change(index);
    queue.emit('turn');
    return { result: await result, urls: requests.map(({ url }) => url) };
  }

  it('is made when its subscription needs the token as before', async () => {
    const { urls } = await requestedAfter((index) => {
      index.put(rigSubscription('late', { version: 2, auth: { ...auth }, description: 'other' }));
    });
    expect(urls).toEqual([TOKEN_URL]);
  });

  it.each([
    ['paused', { status: 'paused' }],
    ['disabled', { status: 'disabled' }],
    ['left without a client', { auth: null }],
    ['given another token URL', { auth: rigAuth('late', 'https://other.example/token') }],
    ['given another client secret', { auth: rigAuth('late', TOKEN_URL, 'new') }],
  ] as const)('is not made when its subscription was %s meanwhile', async (_change, fields) => {
    const { result, urls } = await requestedAfter((index) => {
      index.put(rigSubscription('late', { version: 2, auth, ...fields }));
    });
    expect(urls).toEqual([]);
    expect(result).toEqual({ type: 'changed' });
  });

  it('is not made when its subscription was deleted meanwhile', async () => {
    const { urls } = await requestedAfter((index) => {
      index.remove('late');
    });
    expect(urls).toEqual([]);
  });
});

describe('a token request that waits for a connection after its turn (R-18, R-26)', () => {
  const auth = rigAuth('late', 'https://login.example/token');
  const authOfOther = rigAuth('other', 'https://login.example/token');
  const wait = { withinMs: 5_000, signal: new AbortController().signal };
  const answer = Buffer.from(JSON.stringify({ access_token: 'token-1', expires_in: 3_600 }));
  const issued: EgressResult = { type: 'response', statusCode: 200, headers: {}, body: answer, truncated: false };
  const UNSENT: EgressResult = { type: 'error', errorCode: 'timeout', detail: '', isUnsent: true };
  let index: ReturnType<typeof createSubscriptionIndex>;
  let sent: number;
  let passedMs: number;
  /** The results of the requests in order: each gets a connection, and is written if still wanted, or fails without one. */
  let connects: ((failure?: EgressResult) => void)[];

  function build(maxSubscriptions = 10) {
    [index, sent, passedMs, connects] = [createSubscriptionIndex(), 0, 0, []];
    index.put(rigSubscription('late', { auth }));
    index.put(rigSubscription('other', { auth: authOfOther }));
    const post = (request: EgressRequest): Promise<EgressResult> =>
      new Promise((resolve) => {
        connects.push((failure) => {
          const isSent = failure === undefined && request.isWanted?.() !== false;
          if (isSent) sent++;
          resolve(failure ?? (isSent ? issued : { type: 'aborted' }));
        });
      });
    return new ClientCredentialsTokens({
      egress: { post, close: () => Promise.resolve() },
      permits: { during: (_owner, _origin, work) => work() },
      fleetOf: () => 'fleet-1',
      isWanted: (id, wanted) => wantsToken(index.get(id), wanted),
      sealingKeys: [Buffer.alloc(32, 3)],
      nowMs: () => 0,
      monotonicMs: () => passedMs,
      maxSubscriptions,
    });
  }

  it('is sent while the subscription needs the token', async () => {
    const result = build().tokenFor('late', auth, wait);
    connects[0]?.();
    expect([await result, sent]).toMatchObject([{ type: 'token', issued: { authorization: 'Bearer token-1' } }, 1]);
  });

  it('is not sent when its subscription was deleted, and is no failure that others wait for', async () => {
    const tokens = build();
    const result = tokens.tokenFor('late', auth, wait);
    index.remove('late');
    connects[0]?.();
    expect([(await result).type, sent]).toEqual(['changed', 0]);
    index.put(rigSubscription('late', { auth }));
    const again = tokens.tokenFor('late', auth, wait);
    connects[1]?.();
    expect([(await again).type, sent]).toEqual(['token', 1]);
  });

  /** Two requests for one subscription, of which the later one has got a token. */
  async function overtaken() {
    const tokens = build(1);
    const early = tokens.tokenFor('late', auth, wait);
    // Takes the only entry: the next caller does not find the request that waits.
    void tokens.tokenFor('other', authOfOther, wait);
    const late = tokens.tokenFor('late', auth, wait);
    connects[2]?.();
    const token = await late;
    if (token.type !== 'token') throw new Error('a token expected');
    return { tokens, early, token };
  }

  it('is not sent when a later request has got a token, which serves its callers too', async () => {
    const { early, token } = await overtaken();
    connects[0]?.();
    expect([await early, sent]).toEqual([token, 1]);
    connects[1]?.();
  });

  it('is made again for its callers when that token is discarded before they have it (R-23)', async () => {
    const { tokens, early, token } = await overtaken();
    connects[0]?.();
    tokens.discard('late', token.issued);
    await until(() => connects.length === 4);
    connects[3]?.();
    expect([(await early).type, sent]).toEqual(['token', 2]);
    connects[1]?.();
  });

  it('is waited for no longer than the attempt has left, when it is made again (R-20)', async () => {
    const { tokens, early, token } = await overtaken();
    passedMs = 4_950;
    connects[0]?.();
    tokens.discard('late', token.issued);
    await until(() => connects.length === 4);
    // All 5 s again would be wrong.
    expect(await settlesWithin(4_500, early)).toBe(true);
    expect(await early).toEqual({ type: 'failed', detail: 'the token endpoint did not answer in time' });
    connects[1]?.();
  });

  it('is no failure of its endpoint when it gets no connection and a later request has got a token', async () => {
    const { early, token } = await overtaken();
    connects[0]?.(UNSENT);
    expect([await early, sent]).toEqual([token, 1]);
    connects[1]?.();
  });

  it('has failed when it gets no connection and is still needed', async () => {
    const result = build().tokenFor('late', auth, wait);
    connects[0]?.(UNSENT);
    expect(await result).toEqual({ type: 'failed', detail: 'token endpoint: timeout' });
  });
});
