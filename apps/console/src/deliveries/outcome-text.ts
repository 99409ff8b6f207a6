import type { V2Event } from '@waypost/client';
import { statusCodeText } from '../shared/status-code-text.js';
import { durationText } from '../shared/time-text.js';

type Delivery = V2Event['delivery'];

const NOT_YET = 'No attempt yet: it waits for earlier deliveries, or for its subscription to become active.';

/** What became of a delivery, in a sentence. */
export function outcomeText({ status, attempts, attemptCount, firstAttemptAt }: Delivery): string {
  const last = attempts.at(-1);
  if (last === undefined || firstAttemptAt === undefined)
    return status === 'pending' ? NOT_YET : 'It ended without an attempt.';
  const { statusCode, error = 'no response' } = last;
  const answer = statusCode === undefined ? error : statusCodeText(statusCode);
  if (status === 'pending') return `Not accepted so far: ${answer}. It will be retried.`;
  if (status === 'failed')
    return attemptCount === 1
      ? `Not accepted, and not retried: ${answer}.`
      : `Not accepted in ${String(attemptCount)} attempts: ${answer} at the last one.`;
  if (attemptCount <= 1) return 'Accepted at the first attempt.';
  const tookMs = Date.parse(last.startedAt) + last.durationMs - Date.parse(firstAttemptAt);
  return `Accepted after ${String(attemptCount)} attempts, within ${durationText(tookMs)}.`;
}
