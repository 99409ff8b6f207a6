import { groupBy } from '../../../support/group-by.js';
import { addIfLate } from './check-punctuality.js';
import { liesWithin } from './in-flight.js';
import type { Interruption, LoggedAttempt, Observations, Receipt, Settings } from './observations.js';
import type { ProblemList } from './problem-list.js';
import { type KnownSettings, knownSettings, wasDisturbed } from './settings.js';

/** How an attempt ends that is not made, by the status of its subscription. */
const ERRORS: Readonly<Record<string, string>> = {
  disabled: 'subscription_disabled',
  deleted: 'subscription_deleted',
};

/** Whether an attempt was ended without a request because of what its owner did. */
export function isUnsent({ errorCode }: Pick<LoggedAttempt, 'errorCode'>): boolean {
  return errorCode !== null && Object.values(ERRORS).includes(errorCode);
}

interface Judged {
  readonly settings: KnownSettings;
  readonly interruptions: readonly Interruption[];
  readonly problems: ProblemList;
}

/** attempts go by what their subscription says when they start, and what is not wanted any more is not sent. */
export function checkSettings(observations: Observations, problems: ProblemList): void {
  const { versions, attempts, receipts, interruptions } = observations;
  const judged = { settings: knownSettings(versions), interruptions, problems };
  const receiptsOf = groupBy(receipts, ({ eventId }) => eventId);
  for (const attempt of attempts) {
    if (isUnsent(attempt)) checkUnsent(attempt, receiptsOf.get(attempt.eventId) ?? [], judged);
    else if (judged.settings.has(attempt.subscriptionId))
      checkSent(attempt, receiptsOf.get(attempt.eventId) ?? [], judged);
  }
  checkRates(observations, judged);
}

function checkUnsent(one: LoggedAttempt, receipts: readonly Receipt[], { settings, problems }: Judged): void {
  const { subscriptionId, startedAt, durationMs, errorCode } = one;
  const name = `attempt ${String(one.attempt)} of ${one.eventId}: ${String(errorCode)}`;
  const possible = settings.during(subscriptionId, startedAt, startedAt + durationMs);
  if (!possible.some(({ status }) => ERRORS[status] === errorCode))
    problems.add('attempt that is not made although its subscription wants it', name);
  if (receipts.some((receipt) => receipt.attempt === one.attempt && liesWithin(one, receipt)))
    problems.add('attempt that is not made by the log, and was received', name);
}

function checkSent(one: LoggedAttempt, receipts: readonly Receipt[], judged: Judged): void {
  const { settings, interruptions, problems } = judged;
  const { subscriptionId, startedAt, attempt, eventId, url } = one;
  const name = `attempt ${String(attempt)} of ${eventId}`;
  const within = receipts.filter((receipt) => receipt.attempt === attempt && liesWithin(one, receipt));
  for (const { path } of within) if (!url.endsWith(path)) problems.add('POST to another URL than in the log', name);
  if (wasDisturbed(interruptions, startedAt)) return;
  const possible = settings.during(subscriptionId, startedAt, startedAt);
  const isPossible = (test: (one: Settings) => boolean): boolean => possible.some(test);
  if (!isPossible(({ status }) => ERRORS[status] === undefined))
    problems.add('attempt for a subscription that is disabled or deleted', `${name} at ${String(startedAt)}`);
  if (!isPossible((version) => version.url === url)) problems.add('attempt at a URL that has changed', name);
  for (const { signers } of within)
    if (!isPossible((version) => version.signers === signers))
      problems.add('signed with other secrets than its subscription has', `${name}: ${signers}`);
}

/** Starts may make up for a late timer by 20 ms each. */
const RATE_TOLERANCE = 0.6;
/** A process that has taken a subscription over does not know when its predecessor started the last one. */
const FEW_FAST = 2;
/** From a change, of half of what has waited for it. */
const MOST_RELEASED_MS = 1_000;
const LEAST_RELEASED = 3;

/** A change of the rate takes effect at once. */
function checkRates({ attempts, deliveries }: Observations, { settings, interruptions, problems }: Judged): void {
  const loggedMs = new Map(deliveries.map(({ eventId, loggedMs: ms }) => [eventId, ms]));
  const firsts = attempts.filter((one) => one.attempt === 1 && settings.has(one.subscriptionId));
  const bySubscription = groupBy(firsts, ({ subscriptionId }) => subscriptionId);
  for (const { subscriptionId, settings: now, before, knownMs, fromMs, untilMs } of settings.settled()) {
    const own = bySubscription.get(subscriptionId) ?? [];
    const starts = own.map(({ startedAt }) => startedAt).sort((a, b) => a - b);
    const { ratePerSecond } = now;
    if (ratePerSecond !== null) {
      const during = starts.filter((at) => at >= fromMs && at < untilMs);
      const leastMs = (2_000 / ratePerSecond) * RATE_TOLERANCE;
      const fast = during.filter((at, index) => index >= 2 && at - (during[index - 2] ?? 0) < leastMs);
      if (fast.length > FEW_FAST)
        problems.add('starts beyond a rate limit that was changed', `${String(fast.length)} for ${subscriptionId}`);
    } else if (before?.status === now.status && before.ratePerSecond !== null && !wasDisturbed(interruptions, fromMs)) {
      const waited = own.filter((one) => (loggedMs.get(one.eventId) ?? Infinity) < knownMs && one.startedAt > knownMs);
      const late = waited.map(({ startedAt }) => startedAt - knownMs);
      addIfLate('late starts after a change of the rate limit', late, MOST_RELEASED_MS, LEAST_RELEASED, problems);
    }
  }
}
