import { type Answer, answerOf, REFUSAL_CODE, RETRY_AFTER_S } from '../endpoint-answers.js';
import { isUnsent } from './check-settings.js';
import {
  type ExpectedDelivery,
  identityOf,
  type LoggedAttempt,
  type LoggedDelivery,
  type Pause,
} from './observations.js';
import type { ProblemList } from './problem-list.js';

/** R-22, written down a second time. */
const MOST_ATTEMPTS = 5;
const WAITS_MS = [2_000, 4_000, 8_000, 15_000];
const LONGEST_WAIT_MS = 15_000;
/** Times in the log are whole milliseconds. */
const ROUNDING_MS = 2;

/** A delivery is made just before it is written, and written again while the broker is away. */
const LONGEST_UNLOGGED_MS = 30_000;

/** From the record of a pause or of its end until every process goes by it, faults included. */
const PAUSE_TAKES_MS = 15_000;

export interface LoggedSeries {
  readonly expected: ExpectedDelivery;
  /** Its subscription was changed: where it was sent, and whether, is judged apart. */
  readonly isChanged: boolean;
  readonly delivery: LoggedDelivery | undefined;
  /** In the order of the log. */
  readonly attempts: readonly LoggedAttempt[];
}

/** What the log says of one delivery, in its order: attempts 1 to n, each once, each at its time, and an outcome. */
export function checkSeries(
  { expected, isChanged, delivery, attempts }: LoggedSeries,
  pauses: readonly Pause[],
  problems: ProblemList,
): void {
  const { eventId, subscriptionId } = expected;
  const [first] = attempts;
  const last = attempts.at(-1);
  if (first === undefined || last === undefined) {
    problems.add('delivery without an attempt in the log', eventId);
    return;
  }
  const numbers = attempts.map(({ attempt }) => attempt);
  checkNumbers(eventId, numbers, problems);
  const early = attempts.slice(0, -1).filter(({ outcome }) => outcome !== 'retrying');
  if (early.length > 0) problems.add('attempts after the outcome', `${eventId}: ${numbers.join(' ')}`);
  if (last.outcome === 'retrying')
    problems.add('delivery without an outcome in the log', `${eventId}: ${numbers.join(' ')}`);
  else if (!isUnsent(last)) checkOutcome(expected, attempts, last, problems);
  const own = pauses.filter((pause) => pause.subscriptionId === subscriptionId);
  checkTimes(eventId, attempts, own, problems);
  checkFields(expected, attempts, first, problems);
  if (!isChanged) checkUrls(expected, attempts, problems);
  checkPlaces(eventId, delivery, attempts, problems);
}

/** What every attempt says of its delivery, and when the series began. */
function checkFields(
  expected: ExpectedDelivery,
  attempts: readonly LoggedAttempt[],
  { startedAt }: LoggedAttempt,
  problems: ProblemList,
): void {
  const identity = JSON.stringify(identityOf(expected));
  for (const one of attempts) {
    const name = `attempt ${String(one.attempt)} of ${expected.eventId}`;
    if (JSON.stringify(identityOf(one)) !== identity)
      problems.add('attempt with a field of another delivery', `${name}: ${JSON.stringify(identityOf(one))}`);
    if (one.firstAttemptAt !== startedAt)
      problems.add(
        'attempt with another time of the first one',
        `${name}: ${String(one.firstAttemptAt - startedAt)} ms`,
      );
    // The other endpoints of those that hold never fail.
    if (one.probe || one.probes > 0) problems.add('probe of a subscription that was not suspended', name);
    if (one.retryAfterMs !== (one.statusCode === 429 ? RETRY_AFTER_S * 1_000 : null))
      problems.add('Retry-After that was not the one of its answer', `${name}: ${String(one.retryAfterMs)}`);
    const isFinal = one.outcome !== 'retrying';
    if (isFinal !== (one.nextDueAt === null)) problems.add('next due time of an attempt that is the last', name);
    if ((one.statusCode === null) === (one.errorCode === null))
      problems.add('attempt with neither or both of status and error', name);
    if ((one.errorCode === null) !== !one.errorDetail) problems.add('error without its detail, or the reverse', name);
    if (one.decision !== decisionOn(one))
      problems.add('decision that its result does not give', `${name}: ${one.decision}`);
  }
}

function checkUrls(
  { eventId, url }: ExpectedDelivery,
  attempts: readonly LoggedAttempt[],
  problems: ProblemList,
): void {
  for (const one of attempts)
    if (one.url !== url)
      problems.add('attempt with another URL', `attempt ${String(one.attempt)} of ${eventId}: ${one.url}`);
}

/** for what the endpoints of the suite answer. */
function decisionOn(one: LoggedAttempt): string | null {
  const { attempt, statusCode } = one;
  if (isUnsent(one)) return one.errorCode;
  if (statusCode === 200) return 'accepted';
  if (statusCode === 302) return 'redirect_refused';
  if (statusCode === REFUSAL_CODE || statusCode === 404 || statusCode === 410) return 'permanent_status';
  if (attempt === MOST_ATTEMPTS) return 'attempts_exhausted';
  if (statusCode === 401) return 'unauthorized';
  return statusCode === null ? 'temporary_error' : 'temporary_status';
}

function checkNumbers(eventId: string, numbers: readonly number[], problems: ProblemList): void {
  const said = `${eventId}: ${numbers.join(' ')}`;
  const once = [...new Set(numbers)];
  if (once.length < numbers.length) problems.add('attempt number twice in the log', said);
  if (once.some((number, index) => number !== index + 1))
    problems.add('attempt numbers with a gap or out of order', said);
  if (Math.max(...numbers) > MOST_ATTEMPTS) problems.add('more than five attempts', said);
}

function isOutcomeOf(
  { eventId, behavior }: ExpectedDelivery,
  attempts: readonly LoggedAttempt[],
  last: LoggedAttempt,
): boolean {
  const first = answerOf(behavior, eventId, 1);
  switch (behavior) {
    case 'healthy':
    case 'slow':
      return last.outcome === 'delivered' && last.statusCode === 200;
    case 'first-503':
    case 'busy':
    case 'unauthorized':
    case 'silent':
      return last.outcome === 'delivered' && last.statusCode === 200 && (attempts.length > 1 || isAccepted(first));
    case 'gone':
    case 'redirects':
      return last.outcome === 'failed' && first.type === 'response' && last.statusCode === first.status;
    // Replays are requested once it is fixed.
    case 'fixed':
      return last.statusCode === 200
        ? last.outcome === 'delivered'
        : last.statusCode === REFUSAL_CODE && last.series === 0;
    case 'always-503':
    case 'refuses':
      return last.outcome === 'failed' && last.decision === 'attempts_exhausted' && attempts.length === MOST_ATTEMPTS;
    // See check-outages.ts.
    case 'outage':
      return true;
  }
}

function isAccepted(answer: Answer): boolean {
  return answer.type === 'response' && answer.status === 200;
}

function checkOutcome(
  expected: ExpectedDelivery,
  attempts: readonly LoggedAttempt[],
  last: LoggedAttempt,
  problems: ProblemList,
): void {
  if (isOutcomeOf(expected, attempts, last)) return;
  const { eventId, behavior } = expected;
  const results = attempts.map(({ statusCode, errorCode }) => statusCode ?? errorCode).join(' ');
  problems.add(`outcome that a "${behavior}" endpoint does not give`, `${eventId}: ${results}, ${last.outcome}`);
}

/** Waits by R-22 from the end of an attempt, and nothing starts before it is due. */
function checkTimes(
  eventId: string,
  attempts: readonly LoggedAttempt[],
  pauses: readonly Pause[],
  problems: ProblemList,
): void {
  for (const [index, one] of attempts.entries()) {
    const { attempt, startedAt, durationMs, dueAt, nextDueAt, outcome } = one;
    const name = `attempt ${String(attempt)} of ${eventId}`;
    if (startedAt < dueAt - ROUNDING_MS)
      problems.add('start before it was due', `${name}: ${String(dueAt - startedAt)} ms`);
    if (outcome !== 'retrying') continue;
    const waitMs = (nextDueAt ?? NaN) - startedAt - durationMs;
    const { least, most } = waitAfter(one, attempts.slice(0, index));
    if (!(waitMs >= least - ROUNDING_MS && waitMs <= most + ROUNDING_MS))
      problems.add('wait that R-22 does not give', `${name}: ${String(waitMs)} ms`);
    const next = attempts[index + 1];
    if (next?.attempt !== attempt + 1 || next.dueAt === nextDueAt) continue;
    if (!wasHeld(nextDueAt ?? NaN, next.dueAt, pauses))
      problems.add('due time that has changed', `attempt ${String(next.attempt)} of ${eventId}`);
  }
}

/** after the first 401 of a delivery it is tried again at once. */
function waitAfter(
  { attempt, statusCode, retryAfterMs }: LoggedAttempt,
  before: readonly LoggedAttempt[],
): { readonly least: number; readonly most: number } {
  if (statusCode === 401 && !before.some((earlier) => earlier.statusCode === 401)) return { least: 0, most: 0 };
  const scheduledMs = WAITS_MS[attempt - 1] ?? NaN;
  const asked = retryAfterMs ?? 0;
  return {
    least: Math.max(scheduledMs * 0.8, asked),
    most: Math.max(Math.min(scheduledMs * 1.2, LONGEST_WAIT_MS), asked),
  };
}

/** What becomes due during a pause is due when its subscription is active again. */
function wasHeld(dueAt: number, heldUntil: number, pauses: readonly Pause[]): boolean {
  return pauses.some(
    ({ fromMs, untilMs }) =>
      fromMs - PAUSE_TAKES_MS <= dueAt && dueAt <= untilMs + PAUSE_TAKES_MS && heldUntil > untilMs,
  );
}

function checkPlaces(
  eventId: string,
  delivery: LoggedDelivery | undefined,
  attempts: readonly LoggedAttempt[],
  problems: ProblemList,
): void {
  if (delivery === undefined) return;
  const { partition, offset, createdAt, bodyHash, loggedMs } = delivery;
  if (createdAt > loggedMs + ROUNDING_MS || createdAt < loggedMs - LONGEST_UNLOGGED_MS)
    problems.add(
      'delivery with a time of creation that is not its own',
      `${eventId}: ${String(loggedMs - createdAt)} ms`,
    );
  for (const one of attempts) {
    const name = `attempt ${String(one.attempt)} of ${eventId}`;
    if (one.partition !== partition || one.deliveryOffset !== offset)
      problems.add('attempt that points to another place than its delivery', name);
    // What has not begun is not due.
    if (one.attempt === 1 && one.dueAt < loggedMs - ROUNDING_MS)
      problems.add('first attempt that was due before its delivery was in the log', name);
    if (one.deliveryCreatedAt !== createdAt) problems.add('attempt with another time of its delivery', name);
    if (one.bodyHash !== (one.attempt === 1 ? bodyHash : null))
      problems.add('attempt with the wrong body (R-24)', name);
  }
}
