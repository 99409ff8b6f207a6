import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { CLIENT_SECRET } from './subscribers.js';
import { createTokenEndpoint } from './token-endpoint.js';

function ask(form: Record<string, string>, authorization?: string) {
  const request = { headers: { authorization }, socket: { remoteAddress: '127.20.0.1' } };
  const body = Buffer.from(new URLSearchParams({ grant_type: 'client_credentials', ...form }).toString());
  return [request as unknown as IncomingMessage, body] as const;
}
const basic = (secret: string): string =>
  `Basic ${Buffer.from(`client:${encodeURIComponent(secret)}`).toString('base64')}`;

describe('the token endpoint of the suite', () => {
  it('gives a new token each time, for its own client only', () => {
    const endpoint = createTokenEndpoint();
    const inBody = ask({ client_id: 'client', client_secret: CLIENT_SECRET });
    const tokens = [ask({}, basic(CLIENT_SECRET)), inBody].map((request) => {
      const { status, body } = endpoint.answer(...request);
      expect(status).toBe(200);
      return (JSON.parse(body) as { access_token: string }).access_token;
    });
    expect(new Set(tokens).size).toBe(2);
    const [token = ''] = tokens;
    expect(endpoint.problemOf(token, { needsToken: true, subscriptionId: 'client' })).toBeNull();
    expect(endpoint.problemOf(token, { needsToken: true, subscriptionId: 'other' })).not.toBeNull();
    expect(endpoint.problemOf(null, { needsToken: true, subscriptionId: 'client' })).not.toBeNull();
    expect(endpoint.problemOf(token, { needsToken: false, subscriptionId: 'client' })).not.toBeNull();
    expect(endpoint.requests).toHaveLength(2);
    expect(endpoint.requests[0]).toEqual({ source: '127.20.0.1', clientId: 'client', problem: null });
  });

  it.each([
    ['another secret', ask({}, basic('other'))],
    ['another secret in the body', ask({ client_id: 'client', client_secret: 'other' })],
    ['credentials in both places', ask({ client_secret: CLIENT_SECRET }, basic(CLIENT_SECRET))],
    ['another grant', ask({ grant_type: 'password' }, basic(CLIENT_SECRET))],
  ])('refuses %s', (_, request) => {
    const endpoint = createTokenEndpoint();
    expect(endpoint.answer(...request).status).toBe(401);
    expect(endpoint.requests[0]?.problem).not.toBeNull();
  });
});
