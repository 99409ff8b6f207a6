import { type Percentiles, percentilesOf } from '../../../../bench/shared/statistics.js';
import { groupBy } from '../../../support/group-by.js';
import type { Interruption, LoggedAttempt, LoggedDelivery, Observations, Pause } from './observations.js';
import type { ProblemList } from './problem-list.js';

/** The rule is 20 ms; these bounds also hold on a machine that is busy with ten other processes. */
const MOST_MEDIAN_MS = 150;
/** The first ones of a run also meet processes that have just started. */
const MOST_MEDIAN_OF_FIRST_MS = 250;
const LATE_MS = 2_500;
const LATE_SHARE = 0.02;
/** On a machine that stands still for a moment. */
const FEW_LATE = 2;
/** Of all retries, kills included: others need the session timeout to take over, and a retry 5 s late must not pass. */
const MOST_MEDIAN_OF_ALL_MS = 4_500;
const FIRST = 'first attempt';
/** After a process fell, until another has its partitions and has read what was open. */
const RECOVERY_MS = 15_000;
/** Fewer say nothing. */
const LEAST = 20;

interface Start {
  readonly kind: string;
  readonly dueMs: number;
  readonly lateMs: number;
}

/**
 * retries start when they are due, and first attempts soon after their delivery is in the log.
 * @returns how many starts of each kind were judged: those while no process was disturbed, unless they are too few
 */
export function checkPunctuality(observations: Observations, problems: ProblemList): Record<string, number> {
  const judged: Record<string, number> = {};
  const { attempts, interruptions } = observations;
  const logged = new Map(observations.deliveries.map((one) => [one.eventId, one]));
  const delayed = new Set(observations.versions.map(({ subscriptionId }) => subscriptionId));
  for (const { subscriptionId, strictOrder, ratePerSecond, behavior } of observations.expected)
    if (strictOrder || ratePerSecond !== null || behavior === 'busy') delayed.add(subscriptionId);
  const ordinary = attempts.filter(({ subscriptionId }) => !delayed.has(subscriptionId));
  const starts = ordinary.flatMap((one) => startOf(one, logged.get(one.eventId)));
  for (const [kind, group] of groupBy(starts, (one) => one.kind)) {
    if (group.length < LEAST) continue;
    const { p50 } = percentilesOf(group.map(({ lateMs }) => lateMs));
    // The first attempts of a short run wait for a takeover more often than not.
    if (kind !== FIRST && p50 > MOST_MEDIAN_OF_ALL_MS)
      problems.add('late starts', `${kind}: half of them by ${String(p50)} ms`);
    const calm = group.filter((start) => !isDisturbed(start, interruptions)).map(({ lateMs }) => lateMs);
    if (calm.length < LEAST) continue;
    judged[kind] = calm.length;
    const median = percentilesOf(calm).p50;
    const late = calm.filter((ms) => ms > LATE_MS).length;
    const mostMedianMs = kind === FIRST ? MOST_MEDIAN_OF_FIRST_MS : MOST_MEDIAN_MS;
    if (median > mostMedianMs || late > Math.max(FEW_LATE, calm.length * LATE_SHARE)) {
      const what = `p50 ${String(median)} ms, ${String(late)} of ${String(calm.length)} later than ${String(LATE_MS)} ms`;
      problems.add('late starts while no process was disturbed', `${kind}: ${what}`);
    }
  }
  return judged;
}

function startOf(one: LoggedAttempt, delivery: LoggedDelivery | undefined): Start[] {
  const { attempt, dueAt, startedAt } = one;
  if (attempt > 1) return [{ kind: `attempt ${String(attempt)}`, dueMs: dueAt, lateMs: startedAt - dueAt }];
  if (delivery === undefined) return [];
  return [{ kind: FIRST, dueMs: delivery.loggedMs, lateMs: startedAt - delivery.loggedMs }];
}

function isDisturbed(
  { dueMs, lateMs }: Pick<Start, 'dueMs' | 'lateMs'>,
  interruptions: readonly Interruption[],
): boolean {
  return interruptions.some((one) => {
    const overMs = one.type === 'killed' ? one.atMs : one.resumedMs;
    return one.atMs <= dueMs + lateMs && overMs + RECOVERY_MS >= dueMs;
  });
}

/** From the end of a pause, of half of what has waited for it. */
const MOST_RESUMED_MS = 1_000;
const LEAST_RESUMED = 10;
/** Of half of the starts that had to wait for the one before, beyond what their rate asks for. */
const MOST_GAP_FACTOR = 1.5;
const GAP_TIMER_MS = 20;
const LEAST_GAPS = 10;

/** What was held back goes on: after a pause at once, and with a rate limit as fast as that allows. */
export function checkReleases(
  observations: Observations & { readonly pauses: readonly Pause[] },
  problems: ProblemList,
): void {
  const { deliveries, attempts, expected, interruptions } = observations;
  const loggedMs = new Map(deliveries.map((one) => [one.eventId, one.loggedMs]));
  const firsts = attempts
    .filter(({ attempt }) => attempt === 1)
    .toSorted((a, b) => a.startedAt - b.startedAt)
    .map(({ subscriptionId, deviceId, eventId, startedAt }) => ({
      subscriptionId,
      deviceId,
      startedAt,
      loggedMs: loggedMs.get(eventId) ?? NaN,
    }));
  const bySubscription = groupBy(firsts, ({ subscriptionId }) => subscriptionId);
  const strict = new Map(expected.flatMap((one) => (one.strictOrder ? [[one.subscriptionId, one.behavior]] : [])));
  const resumed = observations.pauses.flatMap(({ subscriptionId, fromMs, untilMs }) => {
    const behavior = strict.get(subscriptionId);
    // Its deliveries may wait for a retry.
    if (behavior !== undefined && behavior !== 'healthy') return [];
    if (isDisturbed({ dueMs: untilMs, lateMs: MOST_RESUMED_MS }, interruptions)) return [];
    const held = (bySubscription.get(subscriptionId) ?? []).filter(
      (one) => one.loggedMs > fromMs + PAUSE_TAKES_MS && one.loggedMs < untilMs,
    );
    // With strict order the first one of each device waits for the pause alone.
    const waited =
      behavior === undefined
        ? held
        : held.filter((one, index) => held.findIndex((other) => other.deviceId === one.deviceId) === index);
    return waited.map(({ startedAt }) => startedAt - untilMs);
  });
  addIfLate('late starts after a pause', resumed, MOST_RESUMED_MS, LEAST_RESUMED, problems);
  const limited = expected.filter(({ ratePerSecond }) => ratePerSecond !== null);
  for (const [rate, group] of groupBy(limited, ({ ratePerSecond }) => String(ratePerSecond))) {
    const ids = new Set(group.map(({ subscriptionId }) => subscriptionId));
    const gaps = [...ids].flatMap((id) => waitedGaps(bySubscription.get(id) ?? [], interruptions));
    const most = (1_000 / Number(rate)) * MOST_GAP_FACTOR + GAP_TIMER_MS;
    addIfLate('starts far below their rate limit', gaps, most, LEAST_GAPS, problems);
  }
}

/** As much as a pause takes to be followed. */
const PAUSE_TAKES_MS = 1_000;

/** Between starts of which the later one could have been made with the earlier one. */
function waitedGaps(
  starts: readonly { readonly startedAt: number; readonly loggedMs: number }[],
  interruptions: readonly Interruption[],
): number[] {
  return starts.flatMap(({ startedAt, loggedMs }, index) => {
    const before = starts[index - 1]?.startedAt ?? -Infinity;
    const gapMs = startedAt - before;
    return loggedMs <= before && !isDisturbed({ dueMs: before, lateMs: gapMs }, interruptions) ? [gapMs] : [];
  });
}

/** Judged by half of them. */
export function addIfLate(
  kind: string,
  lateMs: readonly number[],
  mostMs: number,
  least: number,
  problems: ProblemList,
): void {
  if (lateMs.length < least) return;
  const { p50 } = percentilesOf(lateMs);
  if (p50 > mostMs) problems.add(kind, `half of ${String(lateMs.length)} by ${String(p50)} ms`);
}

export function retryLateness(attempts: readonly LoggedAttempt[]): Percentiles {
  return percentilesOf(attempts.flatMap(({ attempt, startedAt, dueAt }) => (attempt > 1 ? [startedAt - dueAt] : [])));
}
