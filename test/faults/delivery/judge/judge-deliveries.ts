import type { Percentiles } from '../../../../bench/shared/statistics.js';
import { groupBy } from '../../../support/group-by.js';
import { createAnswerCheck } from './check-answers.js';
import { checkCancels } from './check-cancels.js';
import { checkHolds, checkOrder } from './check-order.js';
import { checkOutages, withoutOutages } from './check-outages.js';
import { checkPunctuality, checkReleases, retryLateness } from './check-punctuality.js';
import { checkPauses, checkReceipts } from './check-receipts.js';
import { checkSeries } from './check-series.js';
import { checkSettings } from './check-settings.js';
import { checkTokens } from './check-tokens.js';
import { checkTraces } from './check-traces.js';
import { endOf, identityOf, type Interruption, type LoggedAttempt, type Observations } from './observations.js';
import { createProblemList, type ProblemList } from './problem-list.js';
import { pausesOf } from './settings.js';

export interface DeliveryFindings {
  readonly expected: number;
  readonly attempts: number;
  readonly posts: number;
  readonly repeats: number;
  /** What the repeats may have been at most: POSTs under way at a kill or a stop. */
  readonly inFlight: number;
  /** Of them, at the kill or stop that met the most. */
  readonly inFlightAtWorst: number;
  readonly woken: number;
  /** Deliveries that were answered 200 more than once. */
  readonly acceptedTwice: number;
  /** Attempts without a status, by their error. */
  readonly errors: Readonly<Record<string, number>>;
  /** Start minus due time of the attempts from the second on. */
  readonly retryLatenessMs: Percentiles;
  /** How many starts were judged by their time, by kind: `first attempt`, `attempt 2` and so on. */
  readonly judgedStarts: Readonly<Record<string, number>>;
  /** Empty: nothing is missing, nothing is twice without a cause, and the log keeps every rule. */
  readonly problems: readonly string[];
}

/** Compares what the receiver saw with what the log says, and both with the rules. */
export function judgeDeliveries(all: Observations): DeliveryFindings {
  const observations = withoutOutages(all);
  const { expected, deliveries, attempts, receipts, interruptions, versions } = observations;
  const pauses = pausesOf(versions);
  const changed = new Set(versions.map(({ subscriptionId }) => subscriptionId));
  const problems = createProblemList();
  checkFanOut(all, problems);
  checkOutages(all, problems);
  const delivery = new Map(deliveries.map((one) => [one.eventId, one]));
  const attemptsOf = groupBy(attempts, ({ eventId }) => eventId);
  const receiptsOf = groupBy(receipts, ({ eventId }) => eventId);
  // What ends first explains the first POST that it can, so that the others can explain later ones.
  const inOrder = interruptions.toSorted((a, b) => endOf(a) - endOf(b));
  const bySource = groupBy(inOrder, ({ source }) => source);
  const inFlightAt = new Map<Interruption, number>();
  const sums = { repeats: 0, inFlight: 0, woken: 0, acceptedTwice: 0 };
  const answers = createAnswerCheck(interruptions, problems);
  for (const one of expected) {
    const series = {
      expected: one,
      isChanged: changed.has(one.subscriptionId),
      delivery: delivery.get(one.eventId),
      attempts: attemptsOf.get(one.eventId) ?? [],
      receipts: receiptsOf.get(one.eventId) ?? [],
    };
    checkSeries(series, pauses, problems);
    const { repeats, inFlightAt: ofThis, woken, accepted } = checkReceipts(series, bySource, problems);
    answers.add(series);
    sums.repeats += repeats;
    sums.inFlight += ofThis.length;
    for (const at of ofThis) inFlightAt.set(at, (inFlightAt.get(at) ?? 0) + 1);
    sums.woken += woken;
    if (accepted > 1) sums.acceptedTwice += 1;
  }
  answers.end();
  checkOrder(observations, attemptsOf, problems);
  const judgedStarts = checkPunctuality(observations, problems);
  checkReleases({ ...observations, pauses }, problems);
  checkHolds(attempts, problems);
  checkTokens(observations, problems);
  checkTraces(observations, problems);
  checkSettings(observations, problems);
  checkCancels(observations, problems);
  checkPauses({ pauses, receipts, interruptions, expected }, problems);
  const wanted = new Set(expected.map(({ eventId }) => eventId));
  addStrangers('attempts in the log of a delivery that was not requested', attemptsOf.keys(), wanted, problems);
  addStrangers('POSTs that were not requested', receiptsOf.keys(), wanted, problems);
  return {
    expected: expected.length,
    attempts: attempts.length,
    posts: receipts.length,
    ...sums,
    inFlightAtWorst: Math.max(0, ...inFlightAt.values()),
    errors: errorCounts(attempts),
    retryLatenessMs: retryLateness(attempts),
    judgedStarts,
    problems: problems.lines(),
  };
}

function addStrangers(kind: string, found: Iterable<string>, wanted: ReadonlySet<string>, problems: ProblemList): void {
  for (const eventId of found) if (!wanted.has(eventId)) problems.add(kind, eventId);
}

function errorCounts(attempts: readonly LoggedAttempt[]): Record<string, number> {
  const failed = attempts.filter(({ statusCode }) => statusCode === null);
  const byCode = groupBy(failed, ({ errorCode }) => errorCode ?? 'none');
  return Object.fromEntries([...byCode].map(([code, group]) => [code, group.length]));
}

/** Each event x subscription that wants it is in webhook.deliveries, once, and nothing else is. */
function checkFanOut({ expected, deliveries }: Observations, problems: ProblemList): void {
  const logged = groupBy(deliveries, ({ eventId }) => eventId);
  for (const one of expected) {
    const { eventId, subscriptionId } = one;
    const found = logged.get(eventId) ?? [];
    if (found.length === 0) problems.add('event without its delivery in the log', `${eventId} for ${subscriptionId}`);
    if (found.length > 1)
      problems.add('delivery in the log more than once', `${eventId} ${String(found.length)} times`);
    for (const delivery of found) {
      const identity = JSON.stringify(identityOf(delivery));
      if (identity !== JSON.stringify(identityOf(one))) problems.add('delivery of something else', identity);
      if (delivery.bodyHash !== one.bodyHash) problems.add('body that the rules do not make (R-13, R-14)', eventId);
    }
  }
  const wanted = new Set(expected.map(({ eventId }) => eventId));
  for (const eventId of logged.keys())
    if (!wanted.has(eventId)) problems.add('delivery that was not requested', eventId);
}
