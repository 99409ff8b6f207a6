import { beforeEach, describe, expect, it } from '@jest/globals';
import { judgeDeliveries } from './judge-deliveries.js';
import { BEHAVIOURS } from './observations.js';
import { change, type ObservedRun, observedRun, one, remove, SENDER } from './testing/observed-run.js';

let run: ObservedRun;
beforeEach(() => {
  run = observedRun(BEHAVIOURS);
});

const HEALTHY = 'event-0';
const ALWAYS_503 = 'event-2';
const FIRST_503 = 'event-3';
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
      ...{ problems: [], expected: 5, posts: 9, attempts: 14, repeats: 0, inFlight: 0, acceptedTwice: 0 },
      errors: { connection_refused: 5 },
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
    run.receipts.push({ ...one(run.receipts, of(ALWAYS_503, 5)), attempt: 6, receivedMs: nextDueAt });
    expect(kinds()).toContain('more than five attempts');
  });

  it('finds a POST of an attempt that is not in the log', () => {
    run.receipts.push({ ...one(run.receipts, of(FIRST_503, 2)), attempt: 3 });
    expect(kinds()).toEqual(['POST of an attempt that the log does not know']);
  });

  it('finds a series of an always failing endpoint that ends before the fifth attempt', () => {
    run.attempts = run.attempts.filter((item) => !(item.eventId === ALWAYS_503 && item.attempt === 5));
    remove(run.receipts, of(ALWAYS_503, 5));
    change(run.attempts, of(ALWAYS_503, 4), { outcome: 'failed', decision: 'attempts_exhausted', nextDueAt: null });
    expect(kinds()).toEqual(['outcome that a "always-503" endpoint does not give']);
  });

  it.each([
    ['shorter than four fifths of the schedule', 1_590],
    ['longer than six fifths of it', 2_410],
  ])('finds a wait that is %s', (_, waitMs) => {
    const { startedAt, durationMs } = one(run.attempts, of(FIRST_503, 1));
    const dueAt = startedAt + durationMs + waitMs;
    change(run.attempts, of(FIRST_503, 1), { nextDueAt: dueAt });
    change(run.attempts, of(FIRST_503, 2), { dueAt, startedAt: dueAt });
    change(run.receipts, of(FIRST_503, 2), { receivedMs: dueAt + 1 });
    expect(kinds()).toEqual(['wait that R-22 does not give']);
  });

  it('finds a wait beyond the cap of 15 s', () => {
    const { startedAt, durationMs } = one(run.attempts, of(ALWAYS_503, 4));
    const dueAt = startedAt + durationMs + 15_100;
    change(run.attempts, of(ALWAYS_503, 4), { nextDueAt: dueAt });
    change(run.attempts, of(ALWAYS_503, 5), { dueAt, startedAt: dueAt });
    change(run.receipts, of(ALWAYS_503, 5), { receivedMs: dueAt + 1 });
    expect(kinds()).toEqual(['wait that R-22 does not give']);
  });

  it('finds a due time that was not kept', () => {
    const { dueAt } = one(run.attempts, of(FIRST_503, 2));
    change(run.attempts, of(FIRST_503, 2), { dueAt: dueAt + 50, startedAt: dueAt + 50 });
    change(run.receipts, of(FIRST_503, 2), { receivedMs: dueAt + 60 });
    expect(kinds()).toEqual(['due time that has changed']);
  });

  it('finds an attempt that was made before it was due', () => {
    const { dueAt } = one(run.attempts, of(FIRST_503, 2));
    change(run.attempts, of(FIRST_503, 2), { startedAt: dueAt - 20 });
    change(run.receipts, of(FIRST_503, 2), { receivedMs: dueAt - 19 });
    expect(kinds()).toEqual(['start before it was due', 'POST before it was due']);
  });

  it('finds a POST before the delivery was durable', () => {
    const { receivedMs } = one(run.receipts, of(HEALTHY));
    change(run.deliveries, of(HEALTHY), { loggedMs: receivedMs + 20 });
    expect(kinds()).toEqual(['POST before the delivery was in the log']);
  });

  it('finds other bytes, a signature that does not verify, another endpoint and a wrong body in the log', () => {
    change(run.receipts, of(HEALTHY), {
      bodyHash: 'other',
      signatureProblem: 'no matching signature',
      path: '/hook/7',
    });
    change(run.attempts, of(FIRST_503, 1), { bodyHash: 'other' });
    expect(kinds().sort()).toEqual([
      'POST to another endpoint',
      'POST with other bytes',
      'attempt with the wrong body (R-24)',
      'signature that does not verify',
    ]);
  });

  it('finds a repeat without a kill that explains it', () => {
    const first = one(run.receipts, of(HEALTHY));
    run.receipts.push({ ...first, receivedMs: first.receivedMs + 100 });
    expect(judgeDeliveries(run).problems).toEqual([
      expect.stringMatching(
        new RegExp(
          `^repeat without a cause by ${SENDER} and ${SENDER} \\(1\\): attempt 1 of ${HEALTHY}: from ${SENDER} at`,
        ),
      ),
    ]);
  });

  it('shows some of many and counts them all', () => {
    run.receipts = run.receipts.map((receipt) => ({ ...receipt, signatureProblem: 'bad' }));
    expect(judgeDeliveries(run).problems).toEqual([expect.stringMatching(/^signature .* \(9\): .*; and 5 more$/)]);
  });
});
