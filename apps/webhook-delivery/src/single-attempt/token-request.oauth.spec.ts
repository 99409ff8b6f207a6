import { describe, expect, it } from '@jest/globals';
import type { EgressRequest, EgressResult } from '@waypost/egress';
import { rigAuth } from '../../../../test/support/attempt-rig.js';
import { requestToken } from './token-request.js';

/** The request, and what became of it. */
async function requested({ statusCode = 200, tokenType = 'Bearer' } = {}) {
  const requests: EgressRequest[] = [];
  const body = Buffer.from(JSON.stringify({ access_token: 'token-1', token_type: tokenType, expires_in: 60 }));
  const post = (request: EgressRequest): Promise<EgressResult> => {
    requests.push(request);
    return Promise.resolve({ type: 'response', statusCode, headers: {}, body, truncated: false });
  };
  const egress = { post, close: () => Promise.resolve() };
  const options = { egress, sealingKeys: [Buffer.alloc(32, 3)], nowMs: () => 0 };
  const auth = rigAuth('sub-1', 'https://login.example/token');
  const answer = await requestToken(options, { id: 'sub-1', fleetId: 'fleet-1' }, auth, () => true);
  return { request: requests[0], answer };
}

const issued = { type: 'issued', token: 'token-1', lifetimeMs: 60_000 };

describe('a token request (R-23)', () => {
  it('asks for JSON, which is all that its answer can be (RFC 6749, 5.1)', async () => {
    const { request } = await requested();
    expect(request?.headers).toMatchObject({ accept: 'application/json' });
  });

  it.each(['Bearer', 'bearer', 'BEARER'])('takes a token of the type %s: its case means nothing', async (tokenType) => {
    expect((await requested({ tokenType })).answer).toEqual(issued);
  });

  it.each([200, 201, 299])('takes a token that comes with the status %d', async (statusCode) => {
    expect((await requested({ statusCode })).answer).toEqual(issued);
  });
});
