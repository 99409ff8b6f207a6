import { beforeEach, describe, expect, it } from '@jest/globals';
import { judgeDeliveries } from './judge-deliveries.js';
import { BEHAVIORS } from './observations.js';
import {
  BEGAN_AT,
  change,
  eventIdOf,
  type ObservedRun,
  observedRun,
  one,
  OTHER_SENDER,
  pause,
  receivedAt,
  remove,
  SENDER,
  traceparentOf,
} from './testing/observed-run.js';

let run: ObservedRun;
beforeEach(() => {
  run = observedRun(BEHAVIORS);
});

const HEALTHY = 'event-0';
const ALWAYS_503 = 'event-2';
const FIRST_503 = 'event-3';
const [BUSY, UNAUTHORIZED, SILENT, GONE, REDIRECTS] = (
  ['busy', 'unauthorized', 'silent', 'gone', 'redirects'] as const
).map((behavior) => eventIdOf(behavior, BEHAVIORS.indexOf(behavior))) as [string, string, string, string, string];
function of(eventId: string, attempt = 1) {
  return (item: { readonly eventId: string; readonly attempt?: number }): boolean =>
    item.eventId === eventId && (item.attempt ?? attempt) === attempt;
}

/** The kinds of what is wrong, without examples. */
function kinds(): string[] {
  return judgeDeliveries(run).problems.map((line) => line.replace(/ \(\d+\): .*/, ''));
}

describe('the judge of deliveries', () => {
  it('finds nothing wrong with a run in which nothing was disturbed', () => {
    expect(judgeDeliveries(run)).toMatchObject({
      problems: [],
      expected: 11,
      posts: 18,
      attempts: 23,
      repeats: 0,
      inFlight: 0,
      acceptedTwice: 0,
      errors: { connection_refused: 5, timeout: 1 },
    });
  });

  it('finds an event that has become no delivery', () => {
    remove(run.deliveries, of(HEALTHY));
    run.attempts = run.attempts.filter(({ eventId }) => eventId !== HEALTHY);
    run.receipts = run.receipts.filter(({ eventId }) => eventId !== HEALTHY);
    expect(kinds()).toEqual(['event without its delivery in the log', 'delivery without an attempt in the log']);
  });

  it('finds a delivery that is in the log twice', () => {
    run.deliveries.push({ ...one(run.deliveries, of(HEALTHY)), offset: 99 });
    expect(kinds()).toContain('delivery in the log more than once');
  });

  it('finds an unexpected delivery with its attempts and POSTs', () => {
    run.expected.shift();
    expect(kinds()).toEqual([
      'delivery that was not requested',
      'attempts in the log of a delivery that was not requested',
      'POSTs that were not requested',
    ]);
  });

  it('finds a delivery that was never attempted', () => {
    remove(run.attempts, of(HEALTHY));
    remove(run.receipts, of(HEALTHY));
    expect(kinds()).toEqual(['delivery without an attempt in the log']);
  });

  it('finds a delivery that the log calls delivered and the receiver never had', () => {
    remove(run.receipts, of(HEALTHY));
    expect(kinds()).toEqual(['status in the log that was never answered']);
  });

  it('finds a series that was given up in the middle', () => {
    run.attempts = run.attempts.filter((item) => !(item.eventId === ALWAYS_503 && item.attempt > 3));
    run.receipts = run.receipts.filter((item) => !(item.eventId === ALWAYS_503 && item.attempt > 3));
    expect(kinds()).toEqual(['delivery without an outcome in the log']);
  });

  it('finds a gap in the attempt numbers', () => {
    remove(run.attempts, of(ALWAYS_503, 3));
    expect(kinds()).toEqual(
      expect.arrayContaining([
        'attempt numbers with a gap or out of order',
        'POST of an attempt that the log does not know',
      ]),
    );
  });

  it('finds attempts in another order than their numbers', () => {
    const second = run.attempts.indexOf(one(run.attempts, of(ALWAYS_503, 2)));
    run.attempts.splice(second, 2, ...run.attempts.slice(second, second + 2).reverse());
    expect(kinds()).toContain('attempt numbers with a gap or out of order');
  });

  it('finds a second record of an attempt, from any writer', () => {
    run.attempts.push(one(run.attempts, of(HEALTHY)));
    expect(kinds()).toContain('attempt number twice in the log');
  });

  it('finds a sixth attempt', () => {
    const fifth = one(run.attempts, of(ALWAYS_503, 5));
    const nextDueAt = fifth.startedAt + fifth.durationMs + 15_000;
    change(run.attempts, of(ALWAYS_503, 5), { outcome: 'retrying', nextDueAt });
    run.attempts.push({ ...fifth, attempt: 6, dueAt: nextDueAt, startedAt: nextDueAt });
    run.receipts.push({ ...one(run.receipts, of(ALWAYS_503, 5)), attempt: 6, ...receivedAt(nextDueAt) });
    expect(kinds()).toContain('more than five attempts');
  });

  it('finds an attempt that is marked as a probe, or that counts probes', () => {
    change(run.attempts, of(HEALTHY), { probe: true, probes: 1 });
    expect(kinds()).toEqual(['probe of a subscription that was not suspended']);
  });

  it('finds a POST of an attempt that is not in the log', () => {
    run.receipts.push({ ...one(run.receipts, of(FIRST_503, 2)), attempt: 3, traceparent: traceparentOf(3, 3) });
    expect(kinds()).toEqual(['POST of an attempt that the log does not know']);
  });

  it('finds a series of an always failing endpoint that ends before the fifth attempt', () => {
    run.attempts = run.attempts.filter((item) => !(item.eventId === ALWAYS_503 && item.attempt === 5));
    remove(run.receipts, of(ALWAYS_503, 5));
    change(run.attempts, of(ALWAYS_503, 4), { outcome: 'failed', decision: 'attempts_exhausted', nextDueAt: null });
    expect(kinds()).toContain('outcome that a "always-503" endpoint does not give');
  });

  it.each([
    ['shorter than four fifths of the schedule', 1_590],
    ['longer than six fifths of it', 2_410],
  ])('finds a wait that is %s', (_, waitMs) => {
    const { startedAt, durationMs } = one(run.attempts, of(FIRST_503, 1));
    const dueAt = startedAt + durationMs + waitMs;
    change(run.attempts, of(FIRST_503, 1), { nextDueAt: dueAt });
    change(run.attempts, of(FIRST_503, 2), { dueAt, startedAt: dueAt });
    change(run.receipts, of(FIRST_503, 2), { ...receivedAt(dueAt + 1) });
    expect(kinds()).toEqual(['wait that R-22 does not give']);
  });

  it('finds a wait beyond the cap of 15 s', () => {
    const { startedAt, durationMs } = one(run.attempts, of(ALWAYS_503, 4));
    const dueAt = startedAt + durationMs + 15_100;
    change(run.attempts, of(ALWAYS_503, 4), { nextDueAt: dueAt });
    change(run.attempts, of(ALWAYS_503, 5), { dueAt, startedAt: dueAt });
    change(run.receipts, of(ALWAYS_503, 5), { ...receivedAt(dueAt + 1) });
    expect(kinds()).toEqual(['wait that R-22 does not give']);
  });

  it('finds a due time that was not kept', () => {
    const { dueAt } = one(run.attempts, of(FIRST_503, 2));
    change(run.attempts, of(FIRST_503, 2), { dueAt: dueAt + 50, startedAt: dueAt + 50 });
    change(run.receipts, of(FIRST_503, 2), { ...receivedAt(dueAt + 60) });
    expect(kinds()).toEqual(['due time that has changed']);
    const { subscriptionId } = one(run.expected, of(FIRST_503));
    run.versions = pause(run, { subscriptionId: 'another', fromMs: dueAt - 1_000, untilMs: dueAt + 40 });
    expect(kinds()).toEqual(['due time that has changed']);
    run.versions = pause(run, { subscriptionId, fromMs: dueAt - 1_000, untilMs: dueAt + 40 });
    expect(kinds()).toEqual([]);
  });

  it('finds an attempt that was made before it was due', () => {
    const { dueAt } = one(run.attempts, of(FIRST_503, 2));
    change(run.attempts, of(FIRST_503, 2), { startedAt: dueAt - 20 });
    change(run.receipts, of(FIRST_503, 2), { ...receivedAt(dueAt - 19) });
    expect(kinds()).toEqual(['start before it was due', 'POST before it was due']);
  });

  it('finds a POST before the delivery was durable', () => {
    const { receivedMs } = one(run.receipts, of(HEALTHY));
    change(run.deliveries, of(HEALTHY), { loggedMs: receivedMs + 20 });
    expect(kinds()).toContain('POST before the delivery was in the log');
  });

  it('finds other bytes, a signature that does not verify, another endpoint and a wrong body in the log', () => {
    change(run.receipts, of(HEALTHY), {
      bodyHash: 'other',
      requestProblem: 'no matching signature',
      path: '/hook/7',
    });
    change(run.attempts, of(FIRST_503, 1), { bodyHash: 'other' });
    expect(kinds().sort()).toEqual([
      'POST to another endpoint',
      'POST with other bytes',
      'attempt with the wrong body (R-24)',
      'request that R-19 does not make',
    ]);
  });

  it('finds a first attempt during a Retry-After, and a retry that does not wait for it', () => {
    const { startedAt, durationMs, subscriptionId } = one(run.attempts, of(BUSY));
    const dueAt = startedAt + durationMs + 2_400;
    change(run.attempts, of(BUSY), { nextDueAt: dueAt });
    change(run.attempts, of(BUSY, 2), { dueAt, startedAt: dueAt });
    change(run.receipts, of(BUSY, 2), receivedAt(dueAt + 1));
    expect(kinds()).toEqual(['wait that R-22 does not give']);
    run = observedRun(BEHAVIORS);
    const other = { ...one(run.attempts, of(HEALTHY)), subscriptionId, startedAt: startedAt + durationMs + 2_990 };
    run.attempts.push(other);
    expect(kinds()).toContain('first attempt during a Retry-After');
    Object.assign(other, { startedAt: startedAt + durationMs + 3_000 });
    expect(kinds()).not.toContain('first attempt during a Retry-After');
    change(run.attempts, of(BUSY), { retryAfterMs: null });
    expect(kinds()).toContain('Retry-After that was not the one of its answer');
  });

  it('finds a 401 after which a delivery waits, or comes with the same token', () => {
    change(run.receipts, of(UNAUTHORIZED, 2), { token: 'token-1' });
    expect(kinds()).toEqual(['token that was refused is used again']);
    run = observedRun(BEHAVIORS);
    const { dueAt } = one(run.attempts, of(UNAUTHORIZED, 2));
    change(run.attempts, of(UNAUTHORIZED), { nextDueAt: dueAt + 2_000 });
    change(run.attempts, of(UNAUTHORIZED, 2), { dueAt: dueAt + 2_000, startedAt: dueAt + 2_000 });
    change(run.receipts, of(UNAUTHORIZED, 2), receivedAt(dueAt + 2_001));
    expect(kinds()).toEqual(['wait that R-22 does not give']);
  });

  it('finds token requests that nothing asks for, and those without the credentials', () => {
    const [request] = run.tokenRequests;
    if (request === undefined) throw new Error('There was no token request.');
    run.tokenRequests.push(request);
    expect(kinds()).toEqual(['more token requests than 401s need']);
    run.tokenRequests = [{ ...request, problem: 'another client secret' }];
    expect(kinds()).toEqual(['token request that is refused']);
  });

  it('finds nothing in a token request that is made again because none was answered', () => {
    const [request] = run.tokenRequests;
    if (request === undefined) throw new Error('There was no token request.');
    run.tokenRequests.push(request);
    const waited = run.attempts.find(({ subscriptionId }) => subscriptionId === request.clientId);
    change(run.attempts, ({ eventId }) => eventId === waited?.eventId, { errorCode: 'token_error' });
    expect(kinds()).not.toContain('more token requests than 401s need');
  });

  it('finds a time-out that comes too early or too late', () => {
    change(run.attempts, of(SILENT), { durationMs: 3_000 });
    expect(kinds()).toContain('failure without a cause');
    change(run.attempts, of(SILENT), { durationMs: 10_000 });
    expect(kinds()).toContain('time-out after the deadline');
  });

  it('finds a permanent answer that is tried again, and a redirect that is followed', () => {
    change(run.attempts, of(GONE), { outcome: 'retrying', decision: 'temporary_status', nextDueAt: BEGAN_AT });
    expect(kinds()).toEqual(
      expect.arrayContaining(['delivery without an outcome in the log', 'decision that its result does not give']),
    );
    run = observedRun(BEHAVIORS);
    run.receipts.push({ ...one(run.receipts, of(REDIRECTS)), path: '/elsewhere' });
    expect(kinds()).toContain('POST to another endpoint');
    change(run.attempts, of(REDIRECTS), { outcome: 'delivered', decision: 'accepted', statusCode: 200 });
    expect(kinds()).toContain('outcome that a "redirects" endpoint does not give');
  });

  it('finds times of a delivery that are not its own, and an error without its words', () => {
    const { loggedMs, createdAt } = one(run.deliveries, of(HEALTHY));
    for (const other of [loggedMs + 10, loggedMs - 40_000]) {
      change(run.deliveries, of(HEALTHY), { createdAt: other });
      change(run.attempts, of(HEALTHY), { deliveryCreatedAt: other });
      expect(kinds()).toEqual(['delivery with a time of creation that is not its own']);
    }
    change(run.deliveries, of(HEALTHY), { createdAt });
    change(run.attempts, of(HEALTHY), { deliveryCreatedAt: createdAt, dueAt: 0 });
    expect(kinds()).toEqual(['first attempt that was due before its delivery was in the log']);
    change(run.attempts, of(HEALTHY), { dueAt: loggedMs + 5, errorDetail: 'no error' });
    change(run.attempts, of(SILENT), { errorDetail: null });
    expect(kinds()).toEqual(['error without its detail, or the reverse']);
  });

  it('finds a signature that is older than its attempt, or of the future', () => {
    const found = 'signature of another time than its attempt';
    const { signedMs, receivedMs } = one(run.receipts, of(FIRST_503, 2));
    change(run.receipts, of(FIRST_503, 2), { signedMs: signedMs - 1_000 });
    expect(kinds()).toEqual([found]);
    run.interruptions = [{ type: 'paused', source: SENDER, atMs: receivedMs - 2_000, resumedMs: receivedMs - 1 }];
    expect(kinds()).toEqual([]);
    run.interruptions = [];
    change(run.receipts, of(FIRST_503, 2), { signedMs: signedMs + 2_000 });
    expect(kinds()).toEqual([found]);
  });

  it('finds requests in another trace than their event, in several, in none, and attempts that are one span', () => {
    const traceparent = traceparentOf(70, 1);
    change(run.receipts, of(HEALTHY), { traceparent });
    expect(kinds()).toEqual(['POST in another trace than its event']);
    change(run.receipts, of(HEALTHY), { traceparent: traceparentOf(0, 1).replace(/1$/, '0') });
    expect(kinds()).toEqual(['POST in another trace than its event']);
    change(run.receipts, of(HEALTHY), { traceparent: 'none' });
    expect(kinds()).toEqual(['POST without a traceparent', 'POST in another trace than its event']);
    change(run.receipts, of(HEALTHY), { traceparent: traceparentOf(0, 1) });
    change(run.receipts, of(FIRST_503, 2), { traceparent });
    expect(kinds()).toEqual(['POSTs of one delivery in several traces, or of several in one']);
    change(run.receipts, of(FIRST_503, 2), { traceparent: traceparentOf(3, 1) });
    expect(kinds()).toEqual(['attempts that are not a span each']);
  });

  it('finds a repeat without a kill that explains it', () => {
    const first = one(run.receipts, of(HEALTHY));
    run.receipts.push({ ...first, ...receivedAt(first.receivedMs + 100) });
    expect(judgeDeliveries(run).problems).toEqual([
      expect.stringMatching(
        new RegExp(
          `^repeat without a cause by ${SENDER} and ${SENDER} \\(1\\): attempt 1 of ${HEALTHY}: from ${SENDER} at`,
        ),
      ),
    ]);
  });

  it('finds an answered 200 that the log calls a failure, and a failure at an endpoint that never saw it', () => {
    const failed = {
      statusCode: null,
      errorCode: 'connection_reset',
      outcome: 'retrying',
      decision: 'temporary_error',
    };
    change(run.attempts, of(HEALTHY), { ...failed, nextDueAt: BEGAN_AT + 2_305 });
    expect(kinds()).toContain('failure in the log that was answered');
    remove(run.receipts, of(HEALTHY));
    expect(kinds()).toContain('failure without a cause');
    run.interruptions.push({ type: 'killed', source: SENDER, atMs: BEGAN_AT + 200 });
    expect(kinds()).not.toContain('failure without a cause');
  });

  it('finds a time-out of an attempt that was answered within a second, unless its own process was disturbed', () => {
    const { startedAt } = one(run.attempts, of(HEALTHY));
    const timedOut = {
      statusCode: null,
      errorCode: 'timeout',
      durationMs: 5_000,
      loggedMs: startedAt + 5_010,
      outcome: 'retrying',
      decision: 'temporary_error',
      nextDueAt: startedAt + 7_000,
    };
    change(run.attempts, of(HEALTHY), timedOut);
    const found = 'time-out in the log that was answered in time';
    expect(kinds()).toContain(found);
    run.interruptions = [{ type: 'killed', source: OTHER_SENDER, atMs: startedAt + 200 }];
    expect(kinds()).toContain(found);
    run.interruptions = [{ type: 'paused', source: SENDER, atMs: startedAt + 200, resumedMs: startedAt + 4_000 }];
    expect(kinds()).not.toContain(found);
    run.interruptions = [];
    change(run.receipts, of(HEALTHY), { answeredMs: startedAt + 1_100 });
    expect(kinds()).not.toContain(found);
  });

  it('finds time-outs of requests that never arrived, if they are more than a busy machine makes', () => {
    const timeOut = (count: number): void => {
      run = observedRun(Array.from({ length: 20 }, () => 'healthy' as const));
      run.attempts = run.attempts.map((item, index) =>
        index < count ? { ...item, statusCode: null, errorCode: 'timeout', durationMs: 5_000 } : item,
      );
      run.receipts.splice(0, count);
    };
    const found = 'time-out of a request that never arrived';
    timeOut(10);
    expect(kinds()).not.toContain(found);
    timeOut(11);
    expect(kinds()).toContain(found);
  });

  it('finds bytes, fields and times in the log that are not those of the event', () => {
    change(run.expected, of(HEALTHY), { bodyHash: 'other' });
    change(run.attempts, of(HEALTHY), { deviceId: 'other', url: 'http://other', deliveryCreatedAt: 1 });
    change(run.attempts, of(FIRST_503, 2), { firstAttemptAt: 1, decision: 'temporary_status' });
    expect(kinds()).toEqual([
      'body that the rules do not make (R-13, R-14)',
      'attempt with a field of another delivery',
      'attempt with another URL',
      'attempt with another time of its delivery',
      'attempt with another time of the first one',
      'decision that its result does not give',
    ]);
  });

  it('finds POSTs of a paused subscription, a second after the pause and later', () => {
    const { subscriptionId } = one(run.expected, of(HEALTHY));
    run.versions = pause(run, { subscriptionId, fromMs: BEGAN_AT - 1_000, untilMs: BEGAN_AT + 60_000 });
    expect(kinds()).toEqual([]);
    run.versions = pause(run, { subscriptionId, fromMs: BEGAN_AT - 3_000, untilMs: BEGAN_AT + 60_000 });
    expect(kinds()).toEqual(['POST of a paused subscription']);
  });

  it('shows some of many and counts them all', () => {
    run.receipts = run.receipts.map((receipt) => ({ ...receipt, requestProblem: 'bad' }));
    expect(judgeDeliveries(run).problems).toEqual([expect.stringMatching(/^request .* \(18\): .*; and 14 more$/)]);
  });
});
