import { setMaxListeners } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { WebhookSubscription } from '@waypost/domain';
import type { EgressRequest, EgressResult } from '@waypost/egress';
import { rigAuth, rigSubscription } from '../../../../test/support/attempt-rig.js';
import { createSubscriptionIndex, type SubscriptionDirectory } from '../subscriptions/subscription-directory.js';
import { TOKEN_REQUESTS } from './attempt-limits.js';
import { SubscriptionTokens } from './subscription-tokens.js';

/** All token endpoints are at one origin, as at a large provider. */
const TOKEN_URL = 'https://login.example/token';

let index: ReturnType<typeof createSubscriptionIndex>;
/** The requests that the HTTP client has. It answers none. */
let requests: EgressRequest[];
let tokens: SubscriptionTokens;
let stop: AbortController;

beforeEach(() => {
  index = createSubscriptionIndex();
  requests = [];
  stop = new AbortController();
  setMaxListeners(0, stop.signal); // one for each caller that waits
  const post = (request: EgressRequest): Promise<EgressResult> => {
    requests.push(request);
    return new Promise(() => undefined);
  };
  tokens = new SubscriptionTokens(
    { post, close: () => Promise.resolve() },
    { get: index.get } as SubscriptionDirectory,
    { sealingKeys: [Buffer.alloc(32, 3)] },
    () => 0,
    () => 0,
    { after: () => () => undefined },
  );
});
afterEach(() => {
  stop.abort();
});

/** A subscription that needs a token, for which an attempt waits. */
function wants(id: string, fleetId: string): void {
  const auth = rigAuth(id, TOKEN_URL);
  index.put(rigSubscription(id, { fleetId, auth }));
  void tokens.tokenFor(id, auth, { withinMs: 5_000, signal: stop.signal });
}

describe('the token requests of a process', () => {
  it('that are never answered leave room for those of another fleet, which are made at once (R-26)', () => {
    for (let n = 0; n < TOKEN_REQUESTS.perOrigin; n++) wants(`neighbor-${String(n)}`, 'neighbor');
    expect(requests.length).toBeLessThan(TOKEN_REQUESTS.perOrigin);
    wants('healthy', 'another');
    expect(requests.at(-1)?.owner).toEqual({ id: 'healthy', fleetId: 'another' });
  });
});

describe('a token request that waits for a connection', () => {
  /** Whether the client, which asks right before it writes the request, may write it. */
  function isWantedAfter(change: () => void): boolean | undefined {
    wants('waiting', 'fleet-1');
    change();
    return requests[0]?.isWanted?.();
  }

  it('is sent while its subscription needs the token as before', () => {
    expect(isWantedAfter(() => undefined)).toBe(true);
  });

  it.each<[string, Partial<WebhookSubscription>]>([
    ['paused', { status: 'paused' }],
    ['given another client secret', { auth: rigAuth('waiting', TOKEN_URL, 'new') }],
  ])('is not sent when its subscription was %s meanwhile (R-16, R-23)', (_, fields) => {
    const auth = rigAuth('waiting', TOKEN_URL);
    const change = (): void => index.put(rigSubscription('waiting', { version: 2, auth, ...fields }));
    expect(isWantedAfter(change)).toBe(false);
  });

  it('is not sent when its subscription was deleted meanwhile', () => {
    expect(isWantedAfter(() => index.remove('waiting'))).toBe(false);
  });
});
