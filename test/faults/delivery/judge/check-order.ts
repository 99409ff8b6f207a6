import { groupBy } from '../../../support/group-by.js';
import {
  endOf,
  type ExpectedDelivery,
  type Interruption,
  type LoggedAttempt,
  type LoggedDelivery,
  type Observations,
} from './observations.js';
import type { ProblemList } from './problem-list.js';

/** Times are whole milliseconds of one machine's clock. */
const CLOCK_MS = 2;
/** Starts of a lane with a rate may make up for a late timer by 20 ms each. */
const RATE_TOLERANCE = 0.6;
/** A process that has taken a subscription over does not know when its predecessor started the last one. */
const FAST_SHARE = 0.03;

interface Begun {
  readonly expected: ExpectedDelivery;
  readonly delivery: LoggedDelivery;
  readonly attempts: readonly LoggedAttempt[];
  readonly startedAt: number;
}

/** while a Retry-After lasts, no first attempt of the subscription starts. */
export function checkHolds(attempts: readonly LoggedAttempt[], problems: ProblemList): void {
  const asking = new Set(attempts.flatMap((one) => (one.retryAfterMs === null ? [] : [one.subscriptionId])));
  const ofThese = attempts.filter(({ subscriptionId }) => asking.has(subscriptionId));
  for (const group of groupBy(ofThese, ({ subscriptionId }) => subscriptionId).values()) {
    const firsts = group.filter(({ attempt }) => attempt === 1);
    for (const { startedAt, durationMs, retryAfterMs, eventId } of group) {
      if (retryAfterMs === null) continue;
      const fromMs = startedAt + durationMs;
      const early = firsts.filter(
        (one) => one.startedAt > fromMs + CLOCK_MS && one.startedAt < fromMs + retryAfterMs - CLOCK_MS,
      );
      for (const one of early)
        problems.add(
          'first attempt during a Retry-After',
          `${one.eventId}, ${String(one.startedAt - fromMs)} ms after ${eventId} was answered`,
        );
    }
  }
}

/** what is of one subscription and device is in the log, and starts, in the order of its events; rates hold. */
export function checkOrder(
  { expected, deliveries, interruptions, versions }: Observations,
  attemptsOf: ReadonlyMap<string, readonly LoggedAttempt[]>,
  problems: ProblemList,
): void {
  const logged = new Map(deliveries.map((one) => [one.eventId, one]));
  const begun = expected.flatMap((one): Begun[] => {
    const delivery = logged.get(one.eventId);
    const attempts = attemptsOf.get(one.eventId) ?? [];
    const first = attempts.find(({ attempt }) => attempt === 1);
    return delivery === undefined || first === undefined
      ? []
      : [{ expected: one, delivery, attempts, startedAt: first.startedAt }];
  });
  const changed = new Set(versions.map(({ subscriptionId }) => subscriptionId));
  for (const group of groupBy(begun, keyOf).values()) {
    for (const [index, later] of group.entries()) {
      const earlier = group[index - 1];
      if (earlier === undefined) continue;
      const isChanged = changed.has(later.expected.subscriptionId);
      if (isChanged && wasFannedOutAgain(earlier, later, interruptions)) continue;
      checkPair(earlier, later, interruptions, problems);
    }
  }
  const paced = begun.filter(({ expected: { ratePerSecond } }) => ratePerSecond !== null);
  for (const group of groupBy(paced, ({ expected: { subscriptionId } }) => subscriptionId).values())
    checkRate(group, problems);
}

function keyOf({ expected: { subscriptionId, deviceId, series } }: Begun): string {
  return `${subscriptionId} ${deviceId} ${String(series)}`;
}

/** After a fall events are fanned out again by the settings of that moment: an earlier one may be wanted only now. */
function wasFannedOutAgain(a: Begun, b: Begun, interruptions: readonly Interruption[]): boolean {
  return interruptions.some((at) => at.atMs <= a.delivery.loggedMs && endOf(at) >= b.delivery.loggedMs);
}

function checkPair(a: Begun, b: Begun, interruptions: readonly Interruption[], problems: ProblemList): void {
  const name = `${a.expected.eventId} and ${b.expected.eventId} of ${a.expected.deviceId}`;
  if (b.delivery.offset < a.delivery.offset) problems.add('deliveries in another order than their events', name);
  // What was in flight when its process fell is made again, later than what came after it.
  const wasRepeated = interruptions.some((at) => at.atMs <= a.startedAt && endOf(at) >= a.delivery.loggedMs - CLOCK_MS);
  if (b.startedAt < a.startedAt - CLOCK_MS && !wasRepeated)
    problems.add('first attempts in another order than their events', name);
  const last = a.attempts.at(-1);
  if (a.expected.strictOrder && last !== undefined && b.startedAt < last.startedAt + last.durationMs - CLOCK_MS)
    problems.add('start before an earlier delivery of the device was over, in spite of strict order', name);
}

function checkRate(group: readonly Begun[], problems: ProblemList): void {
  const starts = group.map(({ startedAt }) => startedAt).sort((a, b) => a - b);
  const [first] = group;
  const rate = first?.expected.ratePerSecond ?? Infinity;
  const leastMs = (2_000 / rate) * RATE_TOLERANCE;
  const fast = starts.filter((at, index) => index >= 2 && at - (starts[index - 2] ?? 0) < leastMs).length;
  if (fast > Math.max(2, starts.length * FAST_SHARE))
    problems.add(
      'starts beyond the rate limit',
      `${String(fast)} of ${String(starts.length)} for ${first?.expected.subscriptionId ?? ''}`,
    );
}
