import { describe, expect, it } from '@jest/globals';
import { clientCredentialTokens } from './client-credentials.js';
import { TokenRefusedError } from './shared-token.js';

const client = {
  tokenUrl: 'https://login.example/token',
  clientId: 'way post',
  clientSecret: 'secret/%',
  scope: 'kafka',
};

function build(...answers: readonly { readonly status?: number; readonly body: unknown }[]) {
  const requests: { readonly url: string; readonly init: RequestInit }[] = [];
  const clock = { ms: 0 };
  const send = ((url: string, init: RequestInit) => {
    const { status = 200, body } = answers[requests.length] ?? { status: 503, body: null };
    requests.push({ url, init });
    return Promise.resolve(new Response(JSON.stringify(body), { status }));
  }) as typeof fetch;
  return { requests, clock, token: clientCredentialTokens(client, { fetch: send, now: () => clock.ms }) };
}

const first = { body: { access_token: 'one', expires_in: 600 } };
const second = { body: { access_token: 'two', expires_in: 600 } };

describe('Tokens for the login at Kafka', () => {
  it('are requested with client credentials and the scope', async () => {
    const { requests, token } = build(first);
    expect(await token()).toEqual({ value: 'one' });
    const [request] = requests;
    expect(request?.url).toBe('https://login.example/token');
    expect(String(request?.init.body as URLSearchParams)).toBe('grant_type=client_credentials&scope=kafka');
    const login = Buffer.from('way%20post:secret%2F%25').toString('base64');
    expect(request?.init.headers).toMatchObject({ authorization: `Basic ${login}` });
  });

  it('serve all connections until a minute before they expire', async () => {
    const { requests, clock, token } = build(first, second);
    expect(await Promise.all([token(), token()])).toEqual([{ value: 'one' }, { value: 'one' }]);
    clock.ms = 539_999;
    expect(await token()).toEqual({ value: 'one' });
    expect(requests).toHaveLength(1);
    clock.ms = 540_000;
    expect(await token()).toEqual({ value: 'two' });
  });

  it('are renewed at half of a life that is shorter than two minutes', async () => {
    const { clock, token } = build({ body: { access_token: 'one', expires_in: 60 } }, second);
    await token();
    clock.ms = 29_999;
    expect(await token()).toEqual({ value: 'one' });
    clock.ms = 30_000;
    expect(await token()).toEqual({ value: 'two' });
  });

  it.each([400, 401, 403])(
    'are refused for good by the answer %p, which is not repeated with its content',
    async (status) => {
      const { token } = build({ status, body: { error_description: 'secret/%' } });
      const error: unknown = await token().catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(TokenRefusedError);
      expect(error).toMatchObject({
        code: 'TOKEN_REFUSED',
        message: `The token endpoint responded with ${String(status)}`,
      });
    },
  );

  it.each([{}, null, { access_token: '' }])('are not taken from the answer %j', async (body) => {
    await expect(build({ body }).token()).rejects.toThrow(TokenRefusedError);
  });

  it.each([429, 500, 503])('are requested again after the answer %p', async (status) => {
    const { token } = build({ status, body: null }, second);
    await expect(token()).rejects.not.toBeInstanceOf(TokenRefusedError);
    expect(await token()).toEqual({ value: 'two' });
  });
});
