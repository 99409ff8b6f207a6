import { setMaxListeners } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { type BearerAuth, sealClientSecret } from '@waypost/domain';
import type { EgressRequest, EgressResult } from '@waypost/egress';
import { ClientCredentialsTokens } from './bearer-tokens.js';

const KEYS = [Buffer.alloc(32, 7)];
function authOf(subscriptionId: string, fields: Partial<BearerAuth> = {}): BearerAuth {
  return {
    tokenUrl: 'https://login.example.org/token',
    clientId: 'client one',
    sealedClientSecret: sealClientSecret('s3:cret', KEYS, Buffer.alloc(12, 1), subscriptionId),
    scope: 'webhooks',
    audience: null,
    tokenAuthMethod: 'client_secret_basic',
    ...fields,
  };
}
const auth = authOf('sub-1');
const wait = { withinMs: 5_000, signal: new AbortController().signal };
setMaxListeners(0, wait.signal); // one for each caller that waits

function json(body: object): EgressResult {
  return {
    type: 'response',
    statusCode: 200,
    headers: {},
    body: Buffer.from(JSON.stringify(body)),
    truncated: false,
  };
}
function numbered(n: number): EgressResult {
  return json({ access_token: `token-${String(n)}`, expires_in: 3_600 });
}
function tokenNo(n: number) {
  return { type: 'token', issued: { authorization: `Bearer token-${String(n)}` } };
}

/** Stands still: nothing here goes by it but a `Retry-After` that is a date. */
const EPOCH_MS = 1_700_000_000_000;

function build(answer: (n: number) => EgressResult | Promise<EgressResult>, maxSubscriptions?: number) {
  const requests: EgressRequest[] = [];
  let passedMs = 1_000_000;
  const post = async (request: EgressRequest): Promise<EgressResult> => {
    requests.push(request);
    return answer(requests.length);
  };
  const tokens = new ClientCredentialsTokens({
    egress: { post, close: () => Promise.resolve() },
    permits: { during: (_owner, _origin, work) => work() },
    fleetOf: () => 'fleet-1',
    isWanted: () => true,
    sealingKeys: KEYS,
    nowMs: () => EPOCH_MS,
    monotonicMs: () => passedMs,
    ...(maxSubscriptions === undefined ? {} : { maxSubscriptions }),
  });
  return { tokens, requests, advance: (ms: number) => void (passedMs += ms) };
}

describe('a token request (R-23)', () => {
  it('contains the client credentials, form-encoded, and the scope', async () => {
    const { tokens, requests } = build(numbered);
    expect(await tokens.tokenFor('sub-1', auth, wait)).toMatchObject(tokenNo(1));
    const [request] = requests;
    expect(request?.url).toBe(auth.tokenUrl);
    expect(request?.headers['content-type']).toBe('application/x-www-form-urlencoded');
    expect(request?.body).toBe('grant_type=client_credentials&scope=webhooks');
    const authorization = request?.headers['authorization'] ?? '';
    expect(authorization).toMatch(/^Basic /);
    expect(Buffer.from(authorization.slice(6), 'base64').toString()).toBe('client%20one:s3%3Acret');
  });

  it('is made for its subscription and its fleet (R-26)', async () => {
    const { tokens, requests } = build(numbered);
    await tokens.tokenFor('sub-1', auth, wait);
    expect(requests[0]?.owner).toEqual({ id: 'sub-1', fleetId: 'fleet-1' });
  });

  it('has no scope when the subscription has none', async () => {
    const { tokens, requests } = build(numbered);
    await tokens.tokenFor('sub-1', authOf('sub-1', { scope: null }), wait);
    expect(requests[0]?.body).toBe('grant_type=client_credentials');
  });

  it('contains the credentials in its body alone, and the audience, when the subscription says so', async () => {
    const { tokens, requests } = build(numbered);
    const inBody = authOf('sub-1', {
      tokenAuthMethod: 'client_secret_post',
      audience: 'https://api.example',
      scope: null,
    });
    await tokens.tokenFor('sub-1', inBody, wait);
    expect(requests[0]?.headers).not.toHaveProperty('authorization');
    expect(Object.fromEntries(new URLSearchParams(String(requests[0]?.body)))).toEqual({
      grant_type: 'client_credentials',
      audience: 'https://api.example',
      client_id: auth.clientId,
      client_secret: 's3:cret',
    });
  });

  it('is not sent with a client secret that cannot be opened', async () => {
    const { tokens, requests } = build(numbered);
    expect(await tokens.tokenFor('sub-2', auth, wait)).toMatchObject({ type: 'failed' });
    expect(requests).toEqual([]);
  });

  it('that fails does not count as still running', async () => {
    const broken = new Error('a mistake in the client');
    const { tokens } = build((n) => (n === 1 ? Promise.reject(broken) : numbered(n)));
    await expect(tokens.tokenFor('sub-1', auth, wait)).rejects.toThrow(broken);
    expect(await tokens.tokenFor('sub-1', auth, wait)).toMatchObject(tokenNo(2));
  });
});

describe('a token endpoint that works again', () => {
  it('is asked again after a second when it fails once more, as if it had never failed', async () => {
    const { tokens, requests, advance } = build((n) =>
      [3, 5].includes(n) ? numbered(n) : { ...json({}), statusCode: 500 },
    );
    for (const backOffMs of [1_000, 2_000]) {
      expect(await tokens.tokenFor('sub-1', auth, wait)).toMatchObject({ type: 'failed' });
      advance(backOffMs);
    }
    const working = await tokens.tokenFor('sub-1', auth, wait);
    if (working.type !== 'token') throw new Error('a token expected');
    tokens.discard('sub-1', working.issued);
    expect(await tokens.tokenFor('sub-1', auth, wait)).toMatchObject({ type: 'failed' });
    advance(1_000);
    expect(await tokens.tokenFor('sub-1', auth, wait)).toMatchObject(tokenNo(5));
    expect(requests).toHaveLength(5);
  });
});

describe('a token endpoint that fails slowly', () => {
  it('is left alone for a second after its answer, however long ago the request was', async () => {
    const answers: ((result: EgressResult) => void)[] = [];
    const { tokens, requests, advance } = build(() => new Promise((resolve) => answers.push(resolve)));
    const first = tokens.tokenFor('sub-1', auth, wait);
    advance(4_000);
    answers[0]?.({ type: 'error', errorCode: 'timeout', detail: '' });
    expect(await first).toMatchObject({ type: 'failed' });
    advance(999);
    expect(await tokens.tokenFor('sub-1', auth, wait)).toMatchObject({ type: 'failed' });
    expect(requests).toHaveLength(1);
    advance(1);
    const next = tokens.tokenFor('sub-1', auth, wait);
    answers[1]?.(numbered(2));
    expect(await next).toMatchObject(tokenNo(2));
  });
});

describe('a token', () => {
  it('is valid from the time of its request, even after a slow response', async () => {
    const answers: ((result: EgressResult) => void)[] = [];
    const { tokens, requests, advance } = build(() => new Promise((resolve) => answers.push(resolve)));
    const first = tokens.tokenFor('sub-1', auth, wait);
    advance(4_000);
    answers[0]?.(json({ access_token: 'a', expires_in: 70 }));
    await first;
    advance(5_999);
    expect(tokens.cached('sub-1', auth)).toBeDefined();
    advance(1);
    expect(tokens.cached('sub-1', auth)).toBeUndefined();
    expect(requests).toHaveLength(1);
  });

  it('is renewed once, however often the old one is discarded', async () => {
    const { tokens, requests } = build(numbered);
    const first = await tokens.tokenFor('sub-1', auth, wait);
    if (first.type !== 'token') throw new Error('a token expected');
    for (let i = 0; i < 100; i++) tokens.discard('sub-1', first.issued);
    const renewed = await Promise.all(Array.from({ length: 100 }, () => tokens.tokenFor('sub-1', auth, wait)));
    for (let i = 0; i < 100; i++) tokens.discard('sub-1', first.issued);
    for (const result of [...renewed, await tokens.tokenFor('sub-1', auth, wait)]) {
      expect(result).toMatchObject(tokenNo(2));
    }
    expect(requests).toHaveLength(2);
  });

  it.each<[string, Partial<BearerAuth>]>([
    ['token URL', { tokenUrl: 'https://login.example.org/other' }],
    ['client id', { clientId: 'client two' }],
    ['client secret', { sealedClientSecret: sealClientSecret('new', KEYS, Buffer.alloc(12, 2), 'sub-1') }],
    ['scope', { scope: null }],
    ['audience', { audience: 'https://api.example' }],
    ['token authentication', { tokenAuthMethod: 'client_secret_post' }],
  ])('of another %s is requested again', async (_what, change) => {
    const { tokens } = build(numbered);
    await tokens.tokenFor('sub-1', auth, wait);
    expect(tokens.cached('sub-1', { ...auth, ...change })).toBeUndefined();
    expect(await tokens.tokenFor('sub-1', { ...auth, ...change }, wait)).toMatchObject(tokenNo(2));
  });

  it('of a changed client is requested at once, even during the back-off of the old endpoint', async () => {
    const { tokens } = build((n) => (n === 1 ? { ...json({}), statusCode: 500 } : numbered(n)));
    await tokens.tokenFor('sub-1', auth, wait);
    expect(await tokens.tokenFor('sub-1', { ...auth, scope: null }, wait)).toMatchObject(tokenNo(2));
  });
});

describe('the memory of tokens', () => {
  it('evicts the subscription with the oldest request when there are too many', async () => {
    const { tokens, requests } = build(numbered, 2);
    for (const id of ['sub-1', 'sub-2', 'sub-3']) await tokens.tokenFor(id, authOf(id), wait);
    expect(tokens.size).toBe(2);
    expect(tokens.cached('sub-1', auth)).toBeUndefined();
    expect(tokens.cached('sub-2', authOf('sub-2'))).toBeDefined();
    await tokens.tokenFor('sub-1', auth, wait);
    expect(tokens.size).toBe(2);
    expect(requests).toHaveLength(4);
  });

  it('is bounded even when every token endpoint fails', async () => {
    const { tokens } = build(() => ({ type: 'error', errorCode: 'connection_refused', detail: '' }), 3);
    for (let i = 0; i < 100; i++) {
      const id = `sub-${String(i)}`;
      await tokens.tokenFor(id, authOf(id), wait);
    }
    expect(tokens.size).toBe(3);
  });
});
