import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  ATTEMPT_ERROR_CODES,
  type AttemptDecision,
  type AttemptErrorCode,
  type AttemptResult,
  decideAttempt,
  decideProbe,
  type FinishedAttempt,
} from './decide-attempt.js';
import { retryAfterMs } from './retry-after.js';

/**
 * as a table that is written down here from the rules alone. Every status code and error code, with and
 * without bearer auth, at every attempt, before and after a first 401, is held against it.
 */
type Fate = 'delivered' | 'permanent' | 'temporary' | 'renew the token';

/** From, to, without bearer auth, with bearer auth. Together they are all that HTTP can say. */
const FATES: readonly (readonly [number, number, Fate, Fate])[] = [
  [100, 199, 'temporary', 'temporary'], // not an answer
  [200, 299, 'delivered', 'delivered'],
  [300, 399, 'permanent', 'permanent'], // never followed
  [400, 400, 'permanent', 'permanent'],
  [401, 401, 'permanent', 'renew the token'],
  [402, 428, 'permanent', 'permanent'], // 403, 404, 408, 409, 410, 413, 421, 425 among them
  [429, 429, 'temporary', 'temporary'],
  [430, 499, 'permanent', 'permanent'],
  [500, 599, 'temporary', 'temporary'],
];

const ERROR_FATES: Readonly<Record<AttemptErrorCode, Fate>> = {
  timeout: 'temporary',
  dns_error: 'temporary',
  connection_refused: 'temporary',
  connection_reset: 'temporary',
  connection_failed: 'temporary',
  tls_error: 'temporary',
  protocol_error: 'temporary',
  network_error: 'temporary',
  token_error: 'temporary',
  secret_unreadable: 'temporary',
  subscription_unknown: 'temporary',
  address_refused: 'permanent',
  url_refused: 'permanent',
  subscription_deleted: 'permanent',
  subscription_disabled: 'permanent',
  expired: 'permanent',
};

/** After attempts 1 to 4: 2, 4, 8, 15 s, times 0.8 to 1.2, but never above 15 s. */
const WAITS_MS: readonly (readonly [number, number])[] = [
  [1_600, 2_400],
  [3_200, 4_800],
  [6_400, 9_600],
  [12_000, 15_000],
];

const ENDED_AT = Date.UTC(2026, 6, 1, 12);
/** 0, the middle, and the largest number below 1. */
const RANDOMS = [0, 0.5, 1 - Number.EPSILON / 2];
const ATTEMPTS = [1, 2, 3, 4, 5];

interface Situation {
  readonly attempt: number;
  readonly auth: 'none' | 'bearer';
  readonly unauthorizedBefore: boolean;
  readonly random: number;
}

const SITUATIONS: readonly Situation[] = ATTEMPTS.flatMap((attempt) =>
  (['none', 'bearer'] as const).flatMap((auth) =>
    [false, true].flatMap((unauthorizedBefore) =>
      RANDOMS.map((random) => ({ attempt, auth, unauthorizedBefore, random })),
    ),
  ),
);

function decide(result: AttemptResult, situation: Situation): AttemptDecision {
  return decideAttempt({ ...situation, result, endedAt: ENDED_AT } satisfies FinishedAttempt);
}

/** What a situation and a fate lead to: null, or the bounds of the wait until the next attempt. */
function expectedWait(fate: Fate, { attempt, unauthorizedBefore }: Situation): readonly [number, number] | null {
  if (fate === 'delivered' || fate === 'permanent' || attempt === 5) return null;
  if (fate === 'renew the token' && !unauthorizedBefore) return [0, 0];
  return WAITS_MS[attempt - 1] ?? null;
}

/** What is wrong with a decision; null: nothing. */
function problem(result: AttemptResult, situation: Situation, fate: Fate): unknown {
  const decision = decide(result, situation);
  const wait = expectedWait(fate, situation);
  return isExpected(decision, fate, wait) ? null : { result, situation, fate, wait, decision };
}

function isExpected(decision: AttemptDecision, fate: Fate, wait: readonly [number, number] | null): boolean {
  if (fate === 'delivered') return decision.outcome === 'delivered';
  if (decision.outcome === 'delivered' || decision.renewToken !== (fate === 'renew the token')) return false;
  if (wait === null) {
    const isGivenUp = decision.decision === 'attempts_exhausted';
    return decision.outcome === 'failed' && isGivenUp === (fate !== 'permanent');
  }
  if (decision.outcome !== 'retrying') return false;
  const waitMs = decision.nextDueAt - ENDED_AT;
  return Number.isInteger(waitMs) && waitMs >= wait[0] && waitMs <= wait[1];
}

function problems(result: AttemptResult, fateOf: (situation: Situation) => Fate): unknown[] {
  return SITUATIONS.map((situation) => problem(result, situation, fateOf(situation))).filter((found) => found !== null);
}

describe('the policy table (R-20 to R-23)', () => {
  it('covers 100 to 599 without a gap', () => {
    let next = 100;
    for (const [from, to] of FATES) {
      expect(from).toBe(next);
      next = to + 1;
    }
    expect(next).toBe(600);
  });

  it.each(FATES)('decides %d to %d without bearer auth: %s; with it: %s', (from, to, plain, bearer) => {
    for (let statusCode = from; statusCode <= to; statusCode++) {
      const result: AttemptResult = { type: 'response', statusCode, retryAfter: null };
      expect(problems(result, ({ auth }) => (auth === 'bearer' ? bearer : plain))).toEqual([]);
    }
  });

  it.each(Object.entries(ERROR_FATES))('decides %s: %s', (errorCode, fate) => {
    const result: AttemptResult = { type: 'error', errorCode: errorCode as AttemptErrorCode, detail: '' };
    expect(problems(result, () => fate)).toEqual([]);
  });

  it('has every error code', () => expect(Object.keys(ERROR_FATES).sort()).toEqual([...ATTEMPT_ERROR_CODES].sort()));

  it.each([0, -1, 99, 600, 999, Number.NaN, 1e9])(
    'neither accepts nor refuses on %d, which no server can mean',
    (statusCode) => expect(problems({ type: 'response', statusCode, retryAfter: null }, () => 'temporary')).toEqual([]),
  );
});

const TIMEOUT: AttemptResult = { type: 'error', errorCode: 'timeout', detail: '' };

function response(statusCode: number) {
  return { type: 'response', statusCode, retryAfter: null } as const;
}

describe('a decision', () => {
  const first: Situation = { attempt: 1, auth: 'none', unauthorizedBefore: false, random: 0.5 };
  const withToken: Situation = { ...first, auth: 'bearer' };

  it.each<[string, AttemptResult, Situation, object]>([
    ['accepted', response(204), first, { outcome: 'delivered' }],
    ['redirect_refused', response(308), first, { outcome: 'failed', renewToken: false }],
    ['permanent_status', response(404), first, { outcome: 'failed', renewToken: false }],
    ['temporary_status', response(503), first, { nextDueAt: ENDED_AT + 2_000 }],
    ['unexpected_status', response(101), first, { nextDueAt: ENDED_AT + 2_000 }],
    ['address_refused', { type: 'error', errorCode: 'address_refused', detail: '' }, first, { outcome: 'failed' }],
    ['temporary_error', TIMEOUT, first, { nextDueAt: ENDED_AT + 2_000 }],
    ['unauthorized', response(401), withToken, { nextDueAt: ENDED_AT, renewToken: true }],
    ['attempts_exhausted', response(401), { ...withToken, attempt: 5 }, { outcome: 'failed', renewToken: true }],
  ])('is named %s', (decision, result, situation, more) => {
    expect(decide(result, situation)).toMatchObject({ decision, ...more });
  });

  it('is to try at once for the first 401 of a delivery only', () => {
    const statuses = fc.array(fc.constantFrom(401, 401, 429, 503), { minLength: 4, maxLength: 4 });
    fc.assert(
      fc.property(statuses, (four) => {
        const waits = four.map((status, index) => {
          const unauthorizedBefore = four.slice(0, index).includes(401);
          const decision = decide(response(status), { ...withToken, attempt: index + 1, unauthorizedBefore });
          return decision.outcome === 'retrying' ? decision.nextDueAt - ENDED_AT : NaN;
        });
        expect(waits.flatMap((wait, index) => (wait === 0 ? [index] : []))).toEqual(
          four.includes(401) ? [four.indexOf(401)] : [],
        );
      }),
    );
  });
});

function inSeconds(seconds: number): string {
  return new Date(ENDED_AT + seconds * 1000).toUTCString();
}

describe('Retry-After (R-22)', () => {
  const ASKED: readonly (readonly [string, number])[] = [
    ['0', 0],
    ['1', 1_000],
    ['3', 3_000],
    ['10', 10_000],
    ['15', 15_000],
    ['16', 15_000],
    ['86400', 15_000],
    ['9'.repeat(500), 15_000],
    ['  7\t', 7_000],
    [inSeconds(3), 3_000],
    [inSeconds(10), 10_000],
    [inSeconds(60), 15_000],
    ['Fri, 31 Dec 9999 23:59:59 GMT', 15_000],
    // In the past.
    [inSeconds(0), 0],
    [inSeconds(-1), 0],
    [inSeconds(-86_400), 0],
    ['Thu, 01 Jan 1970 00:00:00 GMT', 0],
    // Not to be read.
    ['', 0],
    ['-10', 0],
    ['+10', 0],
    ['10.5', 0],
    ['1e1', 0],
    ['0x0a', 0],
    ['10s', 0],
    ['10, 12', 0],
    ['ten', 0],
    ['NaN', 0],
    ['Infinity', 0],
    [new Date(ENDED_AT + 10_000).toISOString(), 0],
    [inSeconds(10).replace('GMT', 'CEST'), 0],
    [inSeconds(10).replace('GMT', '+0000'), 0],
    ['Wed, 99 Jul 2026 12:00:10 GMT', 0],
    ['\u0000', 0],
  ];

  it.each(ASKED)('"%s" asks for %d ms, which raises a shorter wait and lowers none', (retryAfter, askedMs) => {
    for (const statusCode of [429, 503]) {
      for (const situation of SITUATIONS.filter(({ attempt }) => attempt < 5)) {
        const without = decide({ type: 'response', statusCode, retryAfter: null }, situation);
        const decision = decide({ type: 'response', statusCode, retryAfter }, situation);
        if (without.outcome !== 'retrying') throw new Error('a temporary failure expected');
        const expected = ENDED_AT + Math.max(without.nextDueAt - ENDED_AT, askedMs);
        expect(decision).toEqual({ ...without, nextDueAt: expected });
      }
    }
  });

  it('asks for no wait of its own when it is absent or unreadable, or without an answer', () => {
    const unreadable = { ...response(429), retryAfter: 'soon' };
    const asked = [response(503), unreadable, { ...response(200), retryAfter: '7' }, TIMEOUT];
    expect(asked.map((result) => retryAfterMs(result, ENDED_AT))).toEqual([0, 0, 0, 0]);
  });

  it('applies to no other status, and prevents neither a permanent failure nor exhaustion', () => {
    const changed: unknown[] = [];
    for (let statusCode = 100; statusCode < 600; statusCode++) {
      for (const situation of SITUATIONS) {
        if ((statusCode === 429 || statusCode === 503) && situation.attempt < 5) continue;
        const without = decide({ type: 'response', statusCode, retryAfter: null }, situation);
        const asked = decide({ type: 'response', statusCode, retryAfter: '14' }, situation);
        if (JSON.stringify(asked) !== JSON.stringify(without)) changed.push({ statusCode, situation, asked });
      }
    }
    expect(changed).toEqual([]);
  });

  it('is within the bounds of the schedule and the cap, whatever it reads', () => {
    const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    const attempts = fc.constantFrom(1, 2, 3, 4);
    const value = fc.oneof(
      fc.string(),
      fc.integer().map(String),
      fc.date({ noInvalidDate: true }).map((date) => date.toUTCString()),
    );
    fc.assert(
      fc.property(attempts, random, value, (attempt, jitter, retryAfter) => {
        const situation: Situation = { attempt, auth: 'none', unauthorizedBefore: false, random: jitter };
        const decision = decide({ type: 'response', statusCode: 503, retryAfter }, situation);
        if (decision.outcome !== 'retrying') throw new Error('a temporary failure expected');
        const waitMs = decision.nextDueAt - ENDED_AT;
        expect(waitMs).toBeGreaterThanOrEqual(WAITS_MS[attempt - 1]?.[0] ?? NaN);
        expect(waitMs).toBeLessThanOrEqual(15_000);
        expect(Number.isInteger(waitMs)).toBe(true);
      }),
    );
  });
});

describe('the jitter (R-22)', () => {
  it('spreads the waits evenly over the whole of 0.8 to 1.2', () => {
    const tenths = Array.from({ length: 11 }, (_, tenth) => Math.min(tenth / 10, 1 - Number.EPSILON / 2));
    const waits = tenths.map((random) => {
      const situation: Situation = { attempt: 1, auth: 'none', unauthorizedBefore: false, random };
      const decision = decide({ type: 'error', errorCode: 'timeout', detail: '' }, situation);
      return decision.outcome === 'retrying' ? decision.nextDueAt - ENDED_AT : NaN;
    });
    expect(waits).toEqual([1_600, 1_680, 1_760, 1_840, 1_920, 2_000, 2_080, 2_160, 2_240, 2_320, 2_400]);
  });
});

describe('What follows from a probe (R-29)', () => {
  const startedAt = ENDED_AT - 700;
  const probed = (result: AttemptResult, auth: 'none' | 'bearer' = 'none') =>
    decideProbe({ result, auth, unauthorizedBefore: false, endedAt: ENDED_AT, random: 0.5 }, startedAt);

  it.each<[string, AttemptResult, 'none' | 'bearer']>([
    ['503', { type: 'response', statusCode: 503, retryAfter: '9' }, 'none'],
    ['401 to a token, which a delivery would repeat at once', { type: 'response', statusCode: 401 }, 'bearer'],
    ['no answer', { type: 'error', errorCode: 'timeout', detail: '' }, 'none'],
  ])('is the next one 15 s after its start: %s', (_, result, auth) => {
    expect(probed(result, auth)).toMatchObject({ outcome: 'retrying', nextDueAt: startedAt + 15_000 });
  });

  it('is the next one when a longer Retry-After is over, which is 15 s after its end at most (R-22)', () => {
    for (const retryAfter of ['15', '600'])
      expect(probed({ type: 'response', statusCode: 503, retryAfter })).toMatchObject({ nextDueAt: ENDED_AT + 15_000 });
  });

  it('is the end of the delivery when it was accepted, or the answer is permanent', () => {
    expect(probed({ type: 'response', statusCode: 204 })).toEqual({ outcome: 'delivered', decision: 'accepted' });
    expect(probed({ type: 'response', statusCode: 422 })).toMatchObject({
      outcome: 'failed',
      decision: 'permanent_status',
    });
  });
});
