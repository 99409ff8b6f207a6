import { groupBy } from '../../../support/group-by.js';
import {
  type InterruptionsBySource,
  liesWithin,
  type LoggedAround,
  LONGEST_UNDER_WAY_MS,
  type UnderWay,
  underWayAt,
} from './in-flight.js';
import {
  endOf,
  type ExpectedDelivery,
  type Interruption,
  type LoggedAttempt,
  type LoggedDelivery,
  type Observations,
  type Pause,
  type Receipt,
} from './observations.js';
import type { ProblemList } from './problem-list.js';

export interface ReceivedSeries {
  readonly expected: ExpectedDelivery;
  /** Its subscription was changed: where it is sent is judged apart. */
  readonly isChanged: boolean;
  readonly delivery: LoggedDelivery | undefined;
  /** In the order of the log. */
  readonly attempts: readonly LoggedAttempt[];
  /** In the order of their arrival. */
  readonly receipts: readonly Receipt[];
}

/** Of one delivery. */
export interface ReceiptFigures {
  /** POSTs of an attempt beyond its first. */
  readonly repeats: number;
  /** For each POST whose outcome was not in the log when its process was killed or stopped, that interruption. */
  readonly inFlightAt: readonly Interruption[];
  /** Of the repeats, POSTs that a stopped process has written on waking. */
  readonly woken: number;
  readonly accepted: number;
}

const CLOCK_MS = 2;

/** What the receiver saw of one delivery, beside what the log says of it. */
export function checkReceipts(
  series: ReceivedSeries,
  interruptions: InterruptionsBySource,
  problems: ProblemList,
): ReceiptFigures {
  const { expected, attempts, receipts } = series;
  const records = new Map(attempts.map((one) => [one.attempt, one]));
  const underWay = new Map<Receipt, UnderWay | null>();
  const usedBy = new Map<number, Set<Interruption>>();
  for (const receipt of receipts) {
    const used = usedBy.get(receipt.attempt) ?? new Set();
    usedBy.set(receipt.attempt, used);
    const around = {
      own: records.get(receipt.attempt),
      before: records.get(receipt.attempt - 1),
      same: receipts.filter(({ attempt }) => attempt === receipt.attempt),
      used,
    };
    const cause = underWayAt(receipt, around, interruptions);
    if (cause !== null) used.add(cause.at);
    underWay.set(receipt, cause);
    checkSigned(receipt, around, interruptions, problems);
    checkReceipt(series, receipt, around, problems);
  }
  checkOrder(series, underWay, problems);
  const repeats = checkRepeats(expected.eventId, receipts, underWay, problems);
  const count = (test: (receipt: Receipt) => boolean): number => receipts.filter(test).length;
  return {
    repeats,
    inFlightAt: [...underWay.values()].flatMap((one) => (one?.type === 'in-flight' ? [one.at] : [])),
    woken: count((one) => underWay.get(one)?.type === 'woken'),
    accepted: count(({ status }) => status === 200),
  };
}

function checkReceipt(
  { expected, delivery, isChanged }: ReceivedSeries,
  { eventId, attempt, path, bodyHash, requestProblem, receivedMs }: Receipt,
  { own, before }: Pick<LoggedAround, 'own' | 'before'>,
  problems: ProblemList,
): void {
  const name = `attempt ${String(attempt)} of ${eventId}`;
  if (requestProblem !== null) problems.add('request that R-19 does not make', `${name}: ${requestProblem}`);
  if (!isChanged && path !== expected.path) problems.add('POST to another endpoint', `${name}: ${path}`);
  if (delivery !== undefined && bodyHash !== delivery.bodyHash) problems.add('POST with other bytes', name);
  if (delivery !== undefined && receivedMs < delivery.loggedMs - CLOCK_MS)
    problems.add('POST before the delivery was in the log', name);
  if (own === undefined) problems.add('POST of an attempt that the log does not know', name);
  // A first attempt is due when its process has read the delivery, and a repeat of it later than the one before it. One that
  // was under way when its process fell was due as the attempt before it says: a pause since has moved the logged time.
  else if (attempt > 1 && receivedMs < Math.min(own.dueAt, before?.nextDueAt ?? Infinity) - CLOCK_MS)
    problems.add('POST before it was due', name);
}

const SECOND_MS = 1_000;

/** Every attempt is signed when it starts, with a time in whole seconds (R-19). */
function checkSigned(
  receipt: Receipt,
  { own, same }: LoggedAround,
  interruptions: InterruptionsBySource,
  problems: ProblemList,
): void {
  const { attempt, eventId, source, signedMs, receivedMs } = receipt;
  // A stopped process sends on waking what it had signed before.
  const earliestMs = receivedMs - LONGEST_UNDER_WAY_MS;
  const disturbed = (interruptions.get(source) ?? []).some((at) => at.atMs <= receivedMs && endOf(at) >= earliestMs);
  if (disturbed) return;
  const within = same.filter((one) => liesWithin(own, one));
  const isOwn = own !== undefined && within.length === 1 && within[0] === receipt;
  const fromMs = isOwn ? own.startedAt - SECOND_MS : earliestMs;
  if (signedMs < fromMs - CLOCK_MS || signedMs > receivedMs + CLOCK_MS)
    problems.add(
      'signature of another time than its attempt',
      `attempt ${String(attempt)} of ${eventId}: ${String(receivedMs - signedMs)} ms before it was received`,
    );
}

/** From a second after the pause (R-16), and as much again for a busy machine, until it is over, nothing is POSTed. */
const PAUSED_AFTER_MS = 2_000;

export function checkPauses(
  {
    pauses,
    receipts,
    interruptions,
    expected,
  }: Pick<Observations, 'receipts' | 'interruptions' | 'expected'> & { readonly pauses: readonly Pause[] },
  problems: ProblemList,
): void {
  for (const { subscriptionId, fromMs, untilMs } of pauses) {
    const path = expected.find((one) => one.subscriptionId === subscriptionId)?.path;
    const during = receipts.filter(
      (one) => one.path === path && one.receivedMs > fromMs + PAUSED_AFTER_MS && one.receivedMs < untilMs,
    );
    for (const { source, receivedMs, eventId } of during) {
      const wasStopped = interruptions.some(
        (at) => at.source === source && at.atMs <= receivedMs && endOf(at) >= fromMs,
      );
      if (!wasStopped)
        problems.add('POST of a paused subscription', `${eventId}, ${String(receivedMs - fromMs)} ms after the pause`);
    }
  }
}

/** What the sender gave up on may still be on its way to a busy receiver when the next attempt is due. */
function checkOrder(
  { expected, attempts, receipts }: ReceivedSeries,
  underWay: ReadonlyMap<Receipt, UnderWay | null>,
  problems: ProblemList,
): void {
  const timedOut = attempts.flatMap(({ attempt, errorCode }) => (errorCode === 'timeout' ? [attempt] : []));
  let highest = 0;
  for (const receipt of receipts) {
    const isLate = underWay.get(receipt)?.type === 'woken' || timedOut.includes(receipt.attempt);
    if (receipt.attempt < highest && !isLate)
      problems.add(
        'attempt number that goes backward',
        `${expected.eventId}: ${receipts.map(({ attempt }) => attempt).join(' ')}`,
      );
    highest = Math.max(highest, receipt.attempt);
  }
}

/** All POSTs of one attempt but one must have been under way when their own process fell. */
function checkRepeats(
  eventId: string,
  receipts: readonly Receipt[],
  underWay: ReadonlyMap<Receipt, UnderWay | null>,
  problems: ProblemList,
): number {
  let repeats = 0;
  for (const [attempt, same] of groupBy(receipts, (one) => String(one.attempt))) {
    repeats += same.length - 1;
    const unharmed = same.filter((one) => underWay.get(one) === null);
    if (unharmed.length > 1) {
      const senders = unharmed.map(({ source }) => source).join(' and ');
      problems.add(
        `repeat without a cause by ${senders}`,
        `attempt ${attempt} of ${eventId}: ${same.map(describe).join(', ')}`,
      );
    }
  }
  return repeats;
}

function describe({ source, receivedMs, status }: Receipt): string {
  return `from ${source} at ${new Date(receivedMs).toISOString()}, ${status === null ? 'not answered' : `answered ${String(status)}`}`;
}
