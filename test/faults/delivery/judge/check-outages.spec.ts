import { beforeEach, describe, expect, it } from '@jest/globals';
import { checkOutages, withoutOutages } from './check-outages.js';
import { createProblemList } from './problem-list.js';
import { change, DURATION_MS, type ObservedRun, observedRun, one, receivedAt, SENDER } from './testing/observed-run.js';

const SUSPEND_AFTER_MS = 3_000;
const PROBE_EVERY_MS = 1_500;
const SUBSCRIPTION = 'held';
/** Ends its five attempts while it is not suspended yet. */
const FAILED = 0;
/** The oldest that is held. */
const PROBED = 1;
const DELIVERIES = 12;

let run: ObservedRun;

/** The attempts of one delivery: [started after the first failure, probe, status]. */
type Made = readonly (readonly [number, boolean, number])[];

beforeEach(() => {
  run = {
    ...observedRun([]),
    outageTimes: { suspendAfterMs: SUSPEND_AFTER_MS, probeEveryMs: PROBE_EVERY_MS },
    outageReports: [
      { subscriptionId: SUBSCRIPTION, type: 'suspended', occurredAt: at(SUSPEND_AFTER_MS) },
      { subscriptionId: SUBSCRIPTION, type: 'resumed', occurredAt: at(6_000 + DURATION_MS) },
    ],
  };
  const failing = [0, 600, 1_200, 1_800, 2_400].map((ms) => [ms - DURATION_MS, false, 503] as const);
  add(FAILED, failing);
  add(PROBED, [
    [SUSPEND_AFTER_MS - DURATION_MS, false, 503],
    [4_500, true, 503],
    [6_000, true, 200],
  ]);
  for (let number = PROBED + 1; number < DELIVERIES; number += 1) add(number, [[6_400 + number, false, 200]]);
});

function at(ms: number): number {
  return Date.UTC(2026, 0, 12, 6) + ms;
}

function add(number: number, made: Made): void {
  const [like] = observedRun(['always-503']).expected;
  if (like === undefined) throw new Error('There is no delivery.');
  const eventId = eventOf(number);
  const identity = { ...like, eventId, subscriptionId: SUBSCRIPTION, behavior: 'outage' as const };
  const loggedMs = at(number * 10 - 1_000);
  const bodyHash = `body of ${eventId}`;
  run.expected.push(identity);
  run.deliveries.push({ ...identity, partition: 0, offset: number, loggedMs, createdAt: loggedMs, bodyHash });
  for (const [index, [afterMs, probe, statusCode]] of made.entries()) {
    const startedAt = at(afterMs);
    const before = made.slice(0, index).filter((earlier) => earlier[1]).length;
    const attempt = index - before + 1;
    const isFailed = !probe && attempt === 5;
    run.attempts.push({
      ...identity,
      ...{
        deliveryCreatedAt: loggedMs,
        firstAttemptAt: startedAt,
        partition: 0,
        offset: index,
        deliveryOffset: number,
      },
      ...{ loggedMs: startedAt + DURATION_MS, attempt, dueAt: startedAt, startedAt, durationMs: DURATION_MS },
      ...{ statusCode, errorCode: null, errorDetail: null, retryAfterMs: null, probe, probes: before + Number(probe) },
      outcome: statusCode === 200 ? 'delivered' : isFailed ? 'failed' : 'retrying',
      decision: 'by its answer',
      nextDueAt: statusCode === 200 || isFailed ? null : startedAt + PROBE_EVERY_MS,
      bodyHash: index === 0 ? bodyHash : null,
    });
    run.receipts.push({
      ...receivedAt(startedAt + 1),
      ...{ source: SENDER, path: identity.path, eventId, attempt, bodyHash, requestProblem: null, signers: '0' },
      ...{ traceparent: '', token: null, status: statusCode, answeredMs: startedAt + 2 },
    });
  }
}

function eventOf(number: number): string {
  return `event-${String(number).padStart(2, '0')}`;
}

const probe = { of: PROBED, first: at(4_500), second: at(6_000) };

function isProbe(startedAt: number): (one: { readonly startedAt: number }) => boolean {
  return (attempt) => attempt.startedAt === startedAt;
}

function kinds(): string[] {
  const problems = createProblemList();
  checkOutages(run, problems);
  return problems.lines().map((line) => line.replace(/ \(\d+\):.*/s, ''));
}

describe('checkOutages (R-29)', () => {
  it('finds nothing wrong with a subscription that is suspended, probed and released by the rule', () => {
    expect(kinds()).toEqual([]);
  });

  it('leaves nothing of it to the judge of the usual rules', () => {
    const usual = withoutOutages(run);
    expect([usual.expected, usual.deliveries, usual.attempts, usual.receipts]).toEqual([[], [], [], []]);
  });

  it('finds a subscription that is never suspended', () => {
    run.attempts = run.attempts.map((attempt) => ({ ...attempt, probe: false, probes: 0 }));
    expect(kinds()).toContain('subscription with nothing but failures that was not suspended and probed');
  });

  it('finds a suspension that comes a second early', () => {
    change(run.outageReports, ({ type }) => type === 'suspended', { occurredAt: at(SUSPEND_AFTER_MS - 1_000) });
    expect(kinds()).toContain('suspension before its time');
  });

  it('finds a suspension that comes a minute late, unless a kill has made the first failure unknown', () => {
    const late = run.outageReports.map((report) => ({ ...report, occurredAt: report.occurredAt + 60_000 }));
    const later = run.attempts.map((made) => {
      const isLater = made.startedAt > at(2_000);
      return isLater
        ? { ...made, startedAt: made.startedAt + 60_000, nextDueAt: made.nextDueAt && made.nextDueAt + 60_000 }
        : made;
    });
    run = { ...run, outageReports: late, attempts: later, receipts: [] };
    expect(kinds()).toEqual(['suspension after its time']);
    run.interruptions.push({ type: 'killed', source: SENDER, atMs: at(50_000) });
    expect(kinds()).toEqual([]);
  });

  it.each([
    ['half a second early', -500, 'probe before its time'],
    ['ten seconds late', 10_000, 'probe after its time'],
  ])('finds a probe that comes %s', (_, byMs, kind) => {
    for (const startedAt of [probe.first, probe.second]) {
      const { nextDueAt } = one(run.attempts, isProbe(startedAt));
      const moved = { startedAt: startedAt + byMs, nextDueAt: nextDueAt && nextDueAt + byMs };
      change(run.attempts, isProbe(startedAt), moved);
    }
    expect(kinds()).toContain(kind);
  });

  it('finds a probe of a delivery that is not the oldest', () => {
    const other = { eventId: eventOf(PROBED + 1), deliveryOffset: PROBED + 1, attempt: 1, probes: 1 };
    change(run.attempts, isProbe(probe.first), other);
    expect(kinds()).toContain('probe of a delivery that is not the oldest');
  });

  it('finds a probe that counts among the five attempts', () => {
    change(run.attempts, isProbe(probe.second), { attempt: 3 });
    expect(kinds()).toEqual(['probe that counts among the attempts, or numbers with a gap']);
  });

  it('finds an attempt that goes out during a suspension, in the log and at the receiver', () => {
    change(run.attempts, ({ eventId }) => eventId === eventOf(5), { startedAt: at(5_000) });
    expect(kinds()).toContain('attempt of a suspended subscription that is not a probe');
  });

  it('finds a POST during a suspension that the log does not have, unless its process fell', () => {
    run.outageReports = run.outageReports.map((report) =>
      report.type === 'suspended' ? { ...report, occurredAt: at(-9_000) } : report,
    );
    run.receipts.push({ ...one(run.receipts, ({ eventId }) => eventId === eventOf(5)), ...receivedAt(at(5_900)) });
    expect(kinds()).toContain('POST of a suspended subscription that is not a probe');
    run.interruptions.push({ type: 'killed', source: SENDER, atMs: at(5_950) });
    expect(kinds()).not.toContain('POST of a suspended subscription that is not a probe');
  });

  it.each([5_500, SUSPEND_AFTER_MS - 100])(
    'finds a suspension that a successor has forgotten, before a probe and after one, unless its record was lost: %d',
    (occurredAfterMs) => {
      run.outageReports.push({ subscriptionId: SUBSCRIPTION, type: 'suspended', occurredAt: at(occurredAfterMs) });
      expect(kinds()).toContain('suspension that was forgotten');
      run.interruptions.push({ type: 'killed', source: SENDER, atMs: at(SUSPEND_AFTER_MS + 50) });
      expect(kinds()).not.toContain('suspension that was forgotten');
    },
  );

  it('finds a suspension that never ends, or whose end is not reported', () => {
    run.outageReports.pop();
    expect(kinds()).toEqual(['suspension whose end is not reported']);
    change(run.attempts, isProbe(probe.second), { statusCode: 503, outcome: 'retrying', nextDueAt: at(7_500) });
    expect(kinds()).toContain('suspended subscription of which no probe was accepted');
  });

  it('finds a held delivery that was not delivered', () => {
    change(run.attempts, ({ eventId }) => eventId === eventOf(5), { outcome: 'expired' });
    expect(kinds()).toContain('held delivery that was not delivered');
  });

  it('finds held deliveries that are released late, or in another order than the log', () => {
    run.attempts = run.attempts.map((made) =>
      made.startedAt > probe.second ? { ...made, startedAt: made.startedAt + 5_000 } : made,
    );
    expect(kinds()).toEqual(['late starts after a suspension']);
    change(run.attempts, ({ eventId }) => eventId === eventOf(DELIVERIES - 1), { startedAt: at(6_500) });
    expect(kinds()).toContain('held deliveries that start in another order than the log');
  });
});
