import { describe, expect, it } from '@jest/globals';
import { sealClientSecret, type BearerAuth } from '@waypost/domain';
import type { EgressRequest, EgressResult } from '@waypost/egress';
import { createBearerTokens } from './bearer-tokens.js';

const KEY = Buffer.alloc(32, 7);
const auth: BearerAuth = {
  tokenUrl: 'https://login.example.org/token',
  clientId: 'client one',
  sealedClientSecret: sealClientSecret('s3:cret', KEY, Buffer.alloc(12, 1), 'sub-1'),
  scope: 'webhooks',
};

const json = (body: object, statusCode = 200): EgressResult => ({
  type: 'response',
  statusCode,
  headers: {},
  body: Buffer.from(JSON.stringify(body)),
  truncated: false,
});

const build = (answer: (n: number) => EgressResult | Promise<EgressResult>) => {
  const requests: EgressRequest[] = [];
  let now = 1_000_000;
  const post = async (request: EgressRequest): Promise<EgressResult> => {
    requests.push(request);
    return answer(requests.length);
  };
  const tokens = createBearerTokens({
    egress: { post, close: () => Promise.resolve() },
    sealingKey: KEY,
    now: () => now,
  });
  return { tokens, requests, advance: (ms: number) => void (now += ms) };
};

const numbered = (n: number): EgressResult => json({ access_token: `token-${String(n)}`, expires_in: 3_600 });

describe('bearer tokens', () => {
  it('ask the token endpoint with the client credentials and the scope', async () => {
    const { tokens, requests } = build(numbered);
    expect(await tokens.tokenFor('sub-1', auth, 5_000)).toEqual({ type: 'token', token: 'token-1' });
    expect(requests[0]?.url).toBe(auth.tokenUrl);
    expect(requests[0]?.body).toBe('grant_type=client_credentials&scope=webhooks');
    const credentials = Buffer.from(
      requests[0]?.headers['authorization']?.replace('Basic ', '') ?? '',
      'base64',
    ).toString();
    expect(credentials).toBe('client%20one:s3%3Acret');
  });

  it('are shared by concurrent needs and kept until 60 s before they expire (R-23)', async () => {
    const { tokens, requests, advance } = build(numbered);
    await Promise.all(Array.from({ length: 100 }, () => tokens.tokenFor('sub-1', auth, 5_000)));
    advance(3_539_999);
    await tokens.tokenFor('sub-1', auth, 5_000);
    expect(requests).toHaveLength(1);
    advance(1);
    expect(await tokens.tokenFor('sub-1', auth, 5_000)).toEqual({ type: 'token', token: 'token-2' });
  });

  it('are renewed once after a storm of 401s with the same token', async () => {
    const { tokens, requests } = build(numbered);
    await tokens.tokenFor('sub-1', auth, 5_000);
    for (let i = 0; i < 100; i++) tokens.discard('sub-1', 'token-1');
    const renewed = await Promise.all(Array.from({ length: 100 }, () => tokens.tokenFor('sub-1', auth, 5_000)));
    for (let i = 0; i < 100; i++) tokens.discard('sub-1', 'token-1'); // latecomers of the same storm
    await tokens.tokenFor('sub-1', auth, 5_000);
    expect(new Set(renewed.map((result) => result.type === 'token' && result.token))).toEqual(new Set(['token-2']));
    expect(requests).toHaveLength(2);
  });

  it('of a changed client are asked for anew', async () => {
    const { tokens, requests } = build(numbered);
    await tokens.tokenFor('sub-1', auth, 5_000);
    await tokens.tokenFor('sub-1', { ...auth, scope: null }, 5_000);
    expect(requests).toHaveLength(2);
  });

  it.each([
    ['a refusal', json({ error: 'invalid_client' }, 401)],
    ['no token', json({ token_type: 'bearer' })],
    ['a token that would break the header', json({ access_token: 'a\r\nx: y' })],
    ['a failed connection', { type: 'error', errorCode: 'connection_refused', detail: '' } satisfies EgressResult],
    ['something that is not JSON', { ...json({}), body: Buffer.from('<html>') }],
  ])('fail on %s, without keeping anything', async (_what, answer) => {
    const { tokens, requests } = build((n) => (n === 1 ? answer : numbered(n)));
    expect((await tokens.tokenFor('sub-1', auth, 5_000)).type).toBe('failed');
    expect(await tokens.tokenFor('sub-1', auth, 5_000)).toEqual({ type: 'token', token: 'token-2' });
    expect(requests).toHaveLength(2);
  });

  it('are not waited for beyond the deadline of the attempt', async () => {
    const { tokens } = build(() => new Promise(() => undefined));
    expect(await tokens.tokenFor('sub-1', auth, 20)).toMatchObject({ type: 'failed' });
  });
});
