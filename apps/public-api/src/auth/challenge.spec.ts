import { describe, expect, it } from '@jest/globals';
import { challengeHeaders } from './challenge.js';

describe('the challenge of a refused request (R-37)', () => {
  it('names the realm, and the error if there is one', () => {
    expect(challengeHeaders(null)).toEqual({ 'www-authenticate': 'Bearer realm="waypost"' });
    expect(challengeHeaders({ error: 'invalid_token' })).toEqual({
      'www-authenticate': 'Bearer realm="waypost", error="invalid_token"',
    });
  });

  it('names the scope that is missing', () => {
    expect(challengeHeaders({ error: 'insufficient_scope', scope: 'events:read' })).toEqual({
      'www-authenticate': 'Bearer realm="waypost", error="insufficient_scope", scope="events:read"',
    });
  });
});
