import type { V2Event } from '@waypost/client';
import { statusCodeText } from '../shared/status-code-text.js';
import { durationText } from '../shared/time-text.js';
import { endText, isProbe, madeText } from './attempt-lines.js';

type Delivery = V2Event['delivery'];

const NOT_YET = 'No attempt yet: it waits for earlier deliveries, or for its subscription to become active.';

/** What became of a delivery, in a sentence. */
export function outcomeText(delivery: Delivery): string {
  const { status, attempts, firstAttemptAt } = delivery;
  const last = attempts.at(-1);
  if (last === undefined || firstAttemptAt === undefined)
    return status === 'pending' ? NOT_YET : 'It ended without an attempt.';
  const { statusCode, error = 'no response' } = last;
  const answer = statusCode === undefined ? error : statusCodeText(statusCode);
  if (status === 'pending') return `Not accepted so far: ${answer}. It will be retried.`;
  if (status === 'failed') return failureText(delivery, endText(last), answer);
  return acceptanceText(delivery, Date.parse(last.startedAt) + last.durationMs - Date.parse(firstAttemptAt));
}

function failureText(delivery: Delivery, end: string | null, answer: string): string {
  const made = madeText(delivery);
  if (end !== null && made === '') return `It ended without an attempt: ${end}.`;
  if (end !== null) return `Not accepted in ${made}, and not retried: ${end}.`;
  if (isSingle(delivery)) return `Not accepted, and not retried: ${answer}.`;
  return `Not accepted in ${made}: ${answer} at the last one.`;
}

function acceptanceText(delivery: Delivery, tookMs: number): string {
  const isByProbe = delivery.attempts.slice(-1).some(isProbe);
  if (isSingle(delivery)) return `Accepted at the first ${isByProbe ? 'probe' : 'attempt'}.`;
  // What it counts includes the accepted one.
  return `Accepted ${isByProbe ? 'by a probe, ' : ''}after ${madeText(delivery)}, within ${durationText(tookMs)}.`;
}

function isSingle({ attemptCount, probeCount = 0 }: Delivery): boolean {
  return attemptCount + probeCount <= 1;
}
