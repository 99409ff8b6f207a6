import { describe, expect, it } from '@jest/globals';
import { msUntilEnd } from './session-end.js';

const EXPIRES_AT = '2026-05-04T08:05:00.250Z';

describe('the end of a portal session (R-42)', () => {
  it.each([
    ['Mon, 04 May 2026 08:00:00 GMT', 300_250],
    ['Mon, 04 May 2026 09:00:00 GMT', 0],
  ])('is counted from the time of the service: %s', (date, leftMs) => {
    expect(msUntilEnd(EXPIRES_AT, date)).toBe(leftMs);
  });

  it.each([
    [EXPIRES_AT, null],
    [EXPIRES_AT, 'soon'],
    [undefined, 'Mon, 04 May 2026 08:00:00 GMT'],
  ])('is left to the service where the time is not known: %s, %s', (expiresAt, date) => {
    expect(msUntilEnd(expiresAt, date)).toBeNull();
  });
});
