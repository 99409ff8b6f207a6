import { type Percentiles, percentilesOf } from '../../../../bench/shared/statistics.js';
import { groupBy } from '../../../support/group-by.js';
import type { Interruption, LoggedAttempt, LoggedDelivery, Observations } from './observations.js';
import type { ProblemList } from './problem-list.js';

/** The rule is 20 ms; these bounds also hold on a machine that is busy with ten other processes. */
const MOST_MEDIAN_MS = 750;
const MOST_P90_MS = 2_500;
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
  const delayed = new Set(observations.pauses.map(({ subscriptionId }) => subscriptionId));
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
    const sorted = calm.sort((a, b) => a - b);
    const [median, p90] = [0.5, 0.9].map((share) => sorted[Math.floor(sorted.length * share)] ?? 0);
    if ((median ?? 0) > MOST_MEDIAN_MS || (p90 ?? 0) > MOST_P90_MS) {
      const what = `p50 ${String(median)}, p90 ${String(p90)} ms of ${String(calm.length)}`;
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

function isDisturbed({ dueMs, lateMs }: Start, interruptions: readonly Interruption[]): boolean {
  return interruptions.some((one) => {
    const overMs = one.type === 'killed' ? one.atMs : one.resumedMs;
    return one.atMs <= dueMs + lateMs && overMs + RECOVERY_MS >= dueMs;
  });
}

export function retryLateness(attempts: readonly LoggedAttempt[]): Percentiles {
  return percentilesOf(attempts.flatMap(({ attempt, startedAt, dueAt }) => (attempt > 1 ? [startedAt - dueAt] : [])));
}
