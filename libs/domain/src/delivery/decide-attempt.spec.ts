import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  ATTEMPT_ERROR_CODES,
  type AttemptErrorCode,
  type AttemptResult,
  decideAttempt,
  type FinishedAttempt,
  retryAfterMs,
} from './decide-attempt.js';

const ENDED_AT = 1_714_564_800_000;
/** The waits after attempts 1 to 4 when the jitter is in its middle. */
const WAITS_MS = [2_000, 4_000, 8_000, 15_000];

function response(statusCode: number, retryAfter?: string): AttemptResult {
  return {
    type: 'response',
    statusCode,
    retryAfter,
  };
}
function error(errorCode: AttemptErrorCode): AttemptResult {
  return { type: 'error', errorCode, detail: '' };
}

function decide(result: AttemptResult, fields: Partial<FinishedAttempt> = {}) {
  return decideAttempt({
    attempt: 1,
    result,
    auth: 'none',
    unauthorizedBefore: false,
    endedAt: ENDED_AT,
    random: 0.5,
    ...fields,
  });
}

const everyAttempt = [1, 2, 3, 4, 5];
function statuses(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}

describe.each(everyAttempt)('attempt %d', (attempt) => {
  describe.each(['none', 'bearer'] as const)('with auth %s', (auth) => {
    const retried = (decision: string) =>
      attempt === 5
        ? { outcome: 'failed', decision: 'attempts_exhausted', renewToken: false }
        : { outcome: 'retrying', decision, nextDueAt: ENDED_AT + (WAITS_MS[attempt - 1] ?? 0), renewToken: false };

    it('is accepted by any 2xx (R-20)', () => {
      for (const status of statuses(200, 299)) {
        expect(decide(response(status), { attempt, auth })).toEqual({ outcome: 'delivered', decision: 'accepted' });
      }
    });

    it('ends at any 3xx, which is never followed (R-21)', () => {
      for (const status of statuses(300, 399)) {
        const expected = { outcome: 'failed', decision: 'redirect_refused', renewToken: false };
        expect(decide(response(status), { attempt, auth })).toEqual(expected);
      }
    });

    it('ends at any 4xx but 429 and, with a token, 401 (R-21)', () => {
      const permanent = statuses(400, 499).filter((status) => status !== 429 && !(status === 401 && auth === 'bearer'));
      expect(permanent).toHaveLength(auth === 'bearer' ? 98 : 99);
      for (const status of permanent) {
        const expected = { outcome: 'failed', decision: 'permanent_status', renewToken: false };
        expect(decide(response(status), { attempt, auth })).toEqual(expected);
      }
    });

    it('is tried again after 429 and any 5xx, up to five in all (R-21, R-22)', () => {
      for (const status of [429, ...statuses(500, 599)]) {
        expect(decide(response(status), { attempt, auth })).toEqual(retried('temporary_status'));
      }
    });

    it('is tried again after a status that HTTP does not have', () => {
      for (const status of [0, 100, 101, 199, 600, 999]) {
        expect(decide(response(status), { attempt, auth })).toEqual(retried('unexpected_status'));
      }
    });

    const permanentErrors: readonly AttemptErrorCode[] = [
      'address_refused',
      'url_refused',
      'subscription_deleted',
      'subscription_disabled',
    ];

    it.each(permanentErrors)('ends at %s', (errorCode) => {
      const expected = { outcome: 'failed', decision: errorCode, renewToken: false };
      expect(decide(error(errorCode), { attempt, auth })).toEqual(expected);
    });

    it.each(ATTEMPT_ERROR_CODES.filter((code) => !permanentErrors.includes(code)))('is tried again after %s', (code) =>
      expect(decide(error(code), { attempt, auth })).toEqual(retried('temporary_error')),
    );
  });
});

describe('a 401 to a bearer token (R-23)', () => {
  it.each([1, 2, 3, 4])(
    'renews the token and tries again at once, when it is the first of the delivery (attempt %d)',
    (attempt) => {
      expect(decide(response(401), { attempt, auth: 'bearer' })).toEqual({
        outcome: 'retrying',
        decision: 'unauthorized',
        nextDueAt: ENDED_AT,
        renewToken: true,
      });
    },
  );

  it.each([2, 3, 4])('renews the token and keeps to the schedule, when it is not the first (attempt %d)', (attempt) => {
    expect(decide(response(401), { attempt, auth: 'bearer', unauthorizedBefore: true })).toEqual({
      outcome: 'retrying',
      decision: 'unauthorized',
      nextDueAt: ENDED_AT + (WAITS_MS[attempt - 1] ?? 0),
      renewToken: true,
    });
  });

  it('counts among the five, and leaves the token to be renewed for the next delivery', () => {
    expect(decide(response(401), { attempt: 5, auth: 'bearer' })).toEqual({
      outcome: 'failed',
      decision: 'attempts_exhausted',
      renewToken: true,
    });
  });
});

describe('Retry-After (R-22)', () => {
  const dueAfter = (status: number, retryAfter: string, attempt = 1): number => {
    const decision = decide(response(status, retryAfter), { attempt });
    return decision.outcome === 'retrying' ? decision.nextDueAt - ENDED_AT : Number.NaN;
  };

  it.each([429, 503])('raises the wait after %d', (status) => {
    expect(dueAfter(status, '7')).toBe(7_000);
    expect(dueAfter(status, new Date(ENDED_AT + 9_000).toUTCString())).toBe(9_000);
  });

  it('raises it to 15 s at most', () => {
    expect(dueAfter(429, '3600')).toBe(15_000);
    expect(dueAfter(503, '9'.repeat(400))).toBe(15_000);
  });

  it('never lowers it', () => {
    expect(dueAfter(429, '0')).toBe(2_000);
    expect(dueAfter(429, '3', 3)).toBe(8_000);
    expect(dueAfter(503, new Date(ENDED_AT - 60_000).toUTCString())).toBe(2_000);
  });

  it.each([500, 502, 504])('means nothing on %d', (status) => expect(dueAfter(status, '10')).toBe(2_000));

  it('asks for no wait of its own when it is absent or unreadable, or without an answer', () => {
    const asked = [response(503), response(429, 'soon'), response(200, '7'), error('timeout')];

    expect(asked.map((result) => retryAfterMs(result, ENDED_AT))).toEqual([0, 0, 0, 0]);
  });

  it('means nothing when it cannot be read', () => expect(dueAfter(429, 'soon')).toBe(2_000));
});

describe('any delivery', () => {
  const results = fc.oneof(
    fc.record({
      type: fc.constant('response' as const),
      statusCode: fc.oneof(fc.integer({ min: 100, max: 599 }), fc.constantFrom(200, 401, 429, 503)),
      retryAfter: fc.option(fc.oneof(fc.nat(100).map(String), fc.string())),
    }),
    fc.record({
      type: fc.constant('error' as const),
      errorCode: fc.constantFrom(...ATTEMPT_ERROR_CODES),
      detail: fc.string(),
    }),
  );

  it('ends within five attempts, waits 15 s at most, and tries at once at most once', () => {
    const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    const auths = fc.constantFrom('none' as const, 'bearer' as const);
    fc.assert(
      fc.property(fc.array(results, { minLength: 5, maxLength: 5 }), auths, random, (five, auth, jitter) => {
        let [attempt, unauthorizedBefore, immediate] = [0, false, 0];
        for (const result of five) {
          attempt += 1;
          const decision = decide(result, { attempt, auth, unauthorizedBefore, random: jitter });
          if (decision.outcome !== 'retrying') break;
          const waitMs = decision.nextDueAt - ENDED_AT;
          expect(waitMs).toBeLessThanOrEqual(15_000);
          if (waitMs === 0) immediate += 1;
          else expect(waitMs).toBeGreaterThanOrEqual(1_600);
          unauthorizedBefore ||= result.type === 'response' && result.statusCode === 401;
          expect(attempt).toBeLessThan(5);
        }
        expect(immediate).toBeLessThanOrEqual(auth === 'bearer' ? 1 : 0);
      }),
    );
  });
});
