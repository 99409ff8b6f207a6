import { SLOW_MS } from '../endpoint-answers.js';
import type { ReceivedSeries } from './check-receipts.js';
import { isUnsent } from './check-settings.js';
import { liesWithin } from './in-flight.js';
import { endOf, type Interruption, type LoggedAttempt, type Receipt } from './observations.js';
import type { ProblemList } from './problem-list.js';

/** Times are whole milliseconds of one machine's clock. */
const CLOCK_MS = 2;
/** A process that was stopped, or a machine that is too busy, may be late for an answer. */
const DEADLINE_MS = 4_900;
/** What is answered this soon has four more seconds to be read: no machine is so busy. */
const IN_TIME_MS = 1_000;
/** By then the deadline of an attempt has passed, whatever else its process does. */
const LATEST_MS = 7_000;
/** Of all attempts: a busy machine may lose some seconds of connections, but a sender may not lose one in fifty. */
const UNSEEN_SHARE = 0.01;
const FEW = 10;

/** What was answered is what the log says: an answer is never taken for a failure, nor a failure made up. */
export interface AnswerCheck {
  /** Of one delivery. */
  add(series: ReceivedSeries): void;
  /** Once all of them were added. */
  end(): void;
}

export function createAnswerCheck(interruptions: readonly Interruption[], problems: ProblemList): AnswerCheck {
  const unseen: string[] = [];
  let attempts = 0;

  function checkFailure(one: LoggedAttempt, { expected, receipts }: ReceivedSeries): void {
    const { attempt, startedAt, durationMs, loggedMs, errorCode } = one;
    const during = interruptions.filter((at) => at.atMs <= loggedMs && endOf(at) >= startedAt - CLOCK_MS);
    const received = receipts.filter((receipt) => receipt.attempt === attempt && liesWithin(one, receipt));
    const answered = received.find(({ status }) => status !== null);
    const name = `attempt ${String(attempt)} of ${expected.eventId}: ${String(errorCode)}`;
    if (durationMs >= DEADLINE_MS) {
      const isInTime = answered !== undefined && (answered.answeredMs ?? Infinity) <= startedAt + IN_TIME_MS;
      if (isInTime && !during.some(({ source }) => source === answered.source))
        problems.add('time-out in the log that was answered in time', `${name}, answered ${String(answered.status)}`);
      if (during.length === 0 && durationMs > LATEST_MS)
        problems.add('time-out after the deadline', `${name} after ${String(durationMs)} ms`);
      if (received.length === 0 && during.length === 0) unseen.push(name);
    } else if (during.length > 0) return;
    else if (answered === undefined) problems.add('failure without a cause', name);
    else problems.add('failure in the log that was answered', `${name}, answered ${String(answered.status)}`);
  }

  return {
    add(series) {
      const { expected } = series;
      attempts += series.attempts.length;
      for (const one of series.attempts) {
        const { attempt, durationMs, statusCode } = one;
        const name = `attempt ${String(attempt)} of ${expected.eventId}`;
        const leastMs = statusCode === 200 && expected.behavior === 'slow' ? SLOW_MS - CLOCK_MS : 0;
        if (durationMs < leastMs) problems.add('duration shorter than the answer took', name);
        if (statusCode === null && expected.behavior !== 'refuses' && !isUnsent(one)) checkFailure(one, series);
        if (statusCode !== null && !isAnswered(one, series.receipts))
          problems.add('status in the log that was never answered', `${String(statusCode)} for ${name}`);
      }
    },
    end() {
      if (unseen.length <= Math.max(FEW, attempts * UNSEEN_SHARE)) return;
      for (const name of unseen) problems.add('time-out of a request that never arrived', name);
    },
  };
}

function isAnswered({ attempt, statusCode }: LoggedAttempt, receipts: readonly Receipt[]): boolean {
  return receipts.some((one) => one.attempt === attempt && one.status === statusCode);
}
