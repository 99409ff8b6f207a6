import { describe, expect, it } from '@jest/globals';
import { WaypostApiError, WaypostConnectionError } from '@waypost/client';
import { portalStateAfter } from './portal-state.js';

function refusal(status: number): WaypostApiError {
  const response = {
    status,
    code: 'unknown',
    message: 'No.',
    details: [],
    requestId: null,
    retryAfterMs: null,
  } as const;
  return new WaypostApiError(response, 1);
}

describe('a link to the portal that does not open (R-42)', () => {
  it.each([400, 401, 404, 410])('was used before or has expired, when the API says so with %d', (status) => {
    expect(portalStateAfter(refusal(status))).toBe('unusable');
  });

  it.each([429, 500, 502, 503])('may be tried again after a %d', (status) => {
    expect(portalStateAfter(refusal(status))).toBe('unanswered');
  });

  it('may be tried again when nothing has answered', () => {
    expect(portalStateAfter(new WaypostConnectionError(new TypeError('failed to fetch'), 1))).toBe('unanswered');
  });
});
