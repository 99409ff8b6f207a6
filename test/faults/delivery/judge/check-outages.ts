import { groupBy } from '../../../support/group-by.js';
import { addIfLate } from './check-punctuality.js';
import { liesWithin } from './in-flight.js';
import {
  endOf,
  type ExpectedDelivery,
  type Interruption,
  type LoggedAttempt,
  type LoggedDelivery,
  type Observations,
  type OutageReport,
  type OutageTimes,
} from './observations.js';
import type { ProblemList } from './problem-list.js';
import { wasDisturbed } from './settings.js';

/** R-29, written down a second time. */
export const OUTAGE_TIMES: OutageTimes = { suspendAfterMs: 300_000, probeEveryMs: 15_000 };
const MOST_ATTEMPTS = 5;
/** Two clocks are read one after the other, on a machine that is busy. */
const CLOCK_MS = 50;
/** An attempt may be under way when its subscription is suspended. */
const IN_FLIGHT_MS = 6_000;
/** A sender records after a minute that an endpoint fails. If it is killed before, its successor counts from its own first failure. */
const FORGOTTEN_MS = 65_000;
/** From a suspension until its record is written. */
const UNRECORDED_MS = 500;
const LATE_MS = 2_500;
const LATE_SUSPENSION_MS = 10_000;
const LEAST_RELEASED = 5;
const MOST_RELEASED_MS = 2_000;

/** All deliveries of a subscription that holds, whose endpoint answers 503 until it is repaired. */
interface Outage extends Pick<Observations, 'receipts' | 'interruptions' | 'outageReports' | 'outageTimes'> {
  /** In the order of the log. */
  readonly series: readonly Held[];
  /** In the order in which they started. */
  readonly attempts: readonly LoggedAttempt[];
  readonly problems: ProblemList;
}

interface Held {
  readonly expected: ExpectedDelivery;
  readonly delivery: LoggedDelivery;
  /** In the order of the log. */
  readonly attempts: readonly LoggedAttempt[];
}

/** What the usual rules are held against: probes follow others. */
export function withoutOutages(observations: Observations): Observations {
  const held = observations.expected.filter(isHeld);
  if (held.length === 0) return observations;
  const ids = new Set(held.map(({ subscriptionId }) => subscriptionId));
  const paths = new Set(held.map(({ path }) => path));
  const isOther = ({ subscriptionId }: { readonly subscriptionId: string }): boolean => !ids.has(subscriptionId);
  return {
    ...observations,
    expected: observations.expected.filter(isOther),
    deliveries: observations.deliveries.filter(isOther),
    attempts: observations.attempts.filter(isOther),
    receipts: observations.receipts.filter(({ path }) => !paths.has(path)),
  };
}

/** a subscription that holds is suspended after failures only, probed, and released when a probe is accepted. */
export function checkOutages(observations: Observations, problems: ProblemList): void {
  const held = groupBy(observations.expected.filter(isHeld), ({ subscriptionId }) => subscriptionId);
  for (const [subscriptionId, expected] of held) {
    const isOwn = (one: { readonly subscriptionId: string }): boolean => one.subscriptionId === subscriptionId;
    const attempts = observations.attempts.filter(isOwn);
    const attemptsOf = groupBy(attempts, ({ eventId }) => eventId);
    const deliveries = new Map(observations.deliveries.filter(isOwn).map((one) => [one.eventId, one]));
    const series = expected.flatMap((one): Held[] => {
      const delivery = deliveries.get(one.eventId);
      return delivery ? [{ expected: one, delivery, attempts: attemptsOf.get(one.eventId) ?? [] }] : [];
    });
    const path = expected[0]?.path;
    const outage: Outage = {
      ...observations,
      problems,
      series: series.toSorted((a, b) => a.delivery.offset - b.delivery.offset),
      attempts: attempts.toSorted((a, b) => a.startedAt - b.startedAt),
      receipts: observations.receipts.filter((one) => one.path === path),
      outageReports: observations.outageReports.filter(isOwn).toSorted((a, b) => a.occurredAt - b.occurredAt),
    };
    for (const one of outage.series) checkHeldSeries(one, outage);
    checkSuspension(outage);
  }
}

function isHeld({ behavior }: ExpectedDelivery): boolean {
  return behavior === 'outage';
}

/** Attempts and probes have their numbers, and one outcome: only attempts count among the five. */
function checkHeldSeries({ expected: { eventId }, delivery, attempts }: Held, { outageTimes, problems }: Outage): void {
  const last = attempts.at(-1);
  if (last === undefined) {
    problems.add('delivery without an attempt in the log', eventId);
    return;
  }
  if (last.outcome === 'retrying') problems.add('delivery without an outcome in the log', eventId);
  for (const [index, one] of attempts.entries()) {
    const before = attempts.slice(0, index);
    const [attempt, probes] = [before.filter((two) => !two.probe).length + 1, before.filter((two) => two.probe).length];
    const name = `attempt ${String(one.attempt)} of ${eventId}`;
    if (one.attempt !== attempt || one.probes !== probes + (one.probe ? 1 : 0))
      problems.add(
        'probe that counts among the attempts, or numbers with a gap',
        `${name}, ${String(one.probes)} probes`,
      );
    if (one.bodyHash !== (index === 0 ? delivery.bodyHash : null))
      problems.add('attempt with the wrong body (R-24)', name);
    if (one.outcome !== outcomeOf(one))
      problems.add('outcome that an endpoint with an outage does not give', `${name}: ${one.outcome}`);
    if (one.probe && one.outcome === 'retrying' && one.nextDueAt !== one.startedAt + outageTimes.probeEveryMs)
      problems.add('due time of a probe that R-29 does not give', name);
  }
}

function outcomeOf({ statusCode, probe, attempt }: LoggedAttempt): string {
  if (statusCode === 200) return 'delivered';
  return !probe && attempt === MOST_ATTEMPTS ? 'failed' : 'retrying';
}

interface Suspension {
  readonly fromMs: number;
  readonly probes: readonly LoggedAttempt[];
  /** The probe that was accepted. */
  readonly accepted: LoggedAttempt;
}

function checkSuspension(outage: Outage): void {
  const suspension = suspensionOf(outage);
  if (suspension === null) return;
  checkBeginning(suspension, outage);
  checkProbes(suspension, outage);
  checkNothingElse(suspension, outage);
  checkRelease(suspension, outage);
}

function suspensionOf({ attempts, outageReports, interruptions, problems }: Outage): Suspension | null {
  const probes = attempts.filter(({ probe }) => probe);
  const [first] = probes;
  const suspended = outageReports.filter(({ type }) => type === 'suspended');
  const begun = suspended.findLast(({ occurredAt }) => occurredAt <= (first?.startedAt ?? Infinity));
  const accepted = probes.find(({ statusCode }) => statusCode === 200);
  if (first === undefined || begun === undefined) {
    problems.add(
      'subscription with nothing but failures that was not suspended and probed',
      `${String(probes.length)} probes`,
    );
    return null;
  }
  if (suspended.length > 1 && !wasLost(suspended[0], interruptions))
    problems.add('suspension that was forgotten', `probed since ${String(first.startedAt)}`);
  if (accepted === undefined) {
    problems.add('suspended subscription of which no probe was accepted', `${String(probes.length)} probes`);
    return null;
  }
  const acceptedMs = accepted.startedAt + accepted.durationMs;
  if (!outageReports.some(({ type, occurredAt }) => type === 'resumed' && occurredAt >= acceptedMs - CLOCK_MS))
    problems.add('suspension whose end is not reported', accepted.eventId);
  if (probes.at(-1) !== accepted) problems.add('probe after one was accepted', accepted.eventId);
  return { fromMs: begun.occurredAt, probes, accepted };
}

/** Its process fell before the record of the suspension was written. */
function wasLost(suspended: OutageReport | undefined, interruptions: readonly Interruption[]): boolean {
  const atMs = suspended?.occurredAt ?? Infinity;
  return interruptions.some((one) => one.atMs < atMs + UNRECORDED_MS && endOf(one) >= atMs);
}

function checkBeginning({ fromMs }: Suspension, { attempts, outageTimes, interruptions, problems }: Outage): void {
  const failedMs = Math.min(...attempts.map(({ startedAt, durationMs }) => startedAt + durationMs));
  const forgotten = interruptions.filter(({ atMs }) => atMs < failedMs + FORGOTTEN_MS).map(endOf);
  const forMs = fromMs - failedMs;
  if (forMs < outageTimes.suspendAfterMs - CLOCK_MS) problems.add('suspension before its time', `${String(forMs)} ms`);
  const latestMs = Math.max(failedMs, ...forgotten) + outageTimes.suspendAfterMs + LATE_SUSPENSION_MS;
  if (fromMs > latestMs && !wasDisturbed(interruptions, fromMs))
    problems.add('suspension after its time', `${String(forMs)} ms`);
}

/** One every 15 s, of the oldest delivery that has no outcome. */
function checkProbes({ fromMs, probes }: Suspension, outage: Outage): void {
  const { series, outageTimes, interruptions, problems } = outage;
  for (const [index, probe] of probes.entries()) {
    const { startedAt, eventId } = probe;
    const afterMs = startedAt - (probes[index - 1]?.startedAt ?? fromMs);
    if (afterMs < outageTimes.probeEveryMs - CLOCK_MS) problems.add('probe before its time', `${String(afterMs)} ms`);
    if (
      afterMs > outageTimes.probeEveryMs + LATE_MS &&
      !wasDisturbedSince(interruptions, startedAt - afterMs, startedAt)
    )
      problems.add('probe after its time', `${String(afterMs)} ms`);
    const oldest = series.find((one) => one.delivery.loggedMs < startedAt && !wasOver(one, startedAt));
    if (oldest?.expected.eventId !== eventId)
      problems.add(
        'probe of a delivery that is not the oldest',
        `${eventId}, not ${oldest?.expected.eventId ?? 'any'}`,
      );
  }
}

function wasOver({ attempts }: Held, atMs: number): boolean {
  const last = attempts.at(-1);
  return last !== undefined && last.outcome !== 'retrying' && last.startedAt < atMs;
}

function wasDisturbedSince(interruptions: readonly Interruption[], fromMs: number, untilMs: number): boolean {
  return wasDisturbed(interruptions, fromMs) || interruptions.some(({ atMs }) => atMs > fromMs && atMs < untilMs);
}

function checkNothingElse({ fromMs, accepted }: Suspension, outage: Outage): void {
  const { attempts, receipts, interruptions, problems } = outage;
  const during = (atMs: number): boolean => atMs > fromMs + CLOCK_MS && atMs < accepted.startedAt;
  for (const one of attempts)
    if (!one.probe && during(one.startedAt))
      problems.add(
        'attempt of a suspended subscription that is not a probe',
        `${one.eventId} at ${String(one.startedAt)}`,
      );
  for (const receipt of receipts) {
    const { receivedMs, source, eventId } = receipt;
    if (!during(receivedMs - IN_FLIGHT_MS)) continue;
    const isLogged = attempts.some((one) => one.eventId === eventId && liesWithin(one, receipt));
    const isExcused = interruptions.some(
      (at) => at.source === source && at.atMs < receivedMs + IN_FLIGHT_MS && endOf(at) > receivedMs - IN_FLIGHT_MS,
    );
    if (!isLogged && !isExcused) problems.add('POST of a suspended subscription that is not a probe', eventId);
  }
}

/** What was held is delivered, in the order of the log, and at once. */
function checkRelease({ fromMs, accepted }: Suspension, { series, interruptions, problems }: Outage): void {
  const acceptedMs = accepted.startedAt + accepted.durationMs;
  const held = series.filter((one) => one.delivery.loggedMs < acceptedMs && !wasOver(one, fromMs));
  for (const { expected, attempts } of held) {
    const { outcome } = attempts.at(-1) ?? {};
    if (outcome !== 'delivered')
      problems.add('held delivery that was not delivered', `${expected.eventId}: ${String(outcome)}`);
  }
  if (wasDisturbed(interruptions, acceptedMs) || interruptions.some(({ atMs }) => atMs > acceptedMs)) return;
  const starts = held.flatMap(({ attempts: [first] }) =>
    first && first.startedAt > acceptedMs ? [first.startedAt] : [],
  );
  if (starts.some((startedAt, index) => startedAt < (starts[index - 1] ?? 0) - CLOCK_MS))
    problems.add('held deliveries that start in another order than the log', accepted.eventId);
  const late = starts.map((startedAt) => startedAt - acceptedMs);
  addIfLate('late starts after a suspension', late, MOST_RELEASED_MS, LEAST_RELEASED, problems);
}
