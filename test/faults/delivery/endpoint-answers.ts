import { createHash } from 'node:crypto';
import type { EndpointBehavior } from './judge/observations.js';

export const SLOW_MS = 300;
/** Longer than any wait before a second attempt, so that it decides it. */
export const RETRY_AFTER_S = 3;
export const REFUSAL_CODE = 400;
/** Where nothing may be sent. */
export const ELSEWHERE_PATH = '/elsewhere';
const SOME = 2;

export type Answer =
  | { readonly type: 'response'; readonly status: number; readonly delayMs: number; readonly headers?: Headers }
  | { readonly type: 'silence' }
  /** Nothing listens there. */
  | { readonly type: 'refusal' };
type Headers = Readonly<Record<string, string>>;

/** An endpoint that is to be fixed is asked once it was, one with an outage until it is repaired. */
export function answerOf(behavior: EndpointBehavior, eventId: string, attempt: number): Answer {
  switch (behavior) {
    case 'healthy':
    case 'fixed':
      return response(200);
    case 'slow':
      return { ...response(200), delayMs: SLOW_MS };
    case 'always-503':
    case 'outage':
      return response(503);
    case 'first-503':
      return response(attempt === 1 ? 503 : 200);
    case 'busy':
      return isMet(eventId, attempt) ? response(429, { 'retry-after': String(RETRY_AFTER_S) }) : response(200);
    case 'unauthorized':
      return response(isMet(eventId, attempt) ? 401 : 200);
    case 'silent':
      return isMet(eventId, attempt) ? { type: 'silence' } : response(200);
    case 'gone':
      return response(isOneOfSome(eventId) ? 410 : 404);
    case 'redirects':
      return response(302, { location: ELSEWHERE_PATH });
    case 'refuses':
      return { type: 'refusal' };
  }
}

function response(status: number, headers: Headers = {}): Extract<Answer, { type: 'response' }> {
  return { type: 'response', status, delayMs: 0, headers };
}

function isMet(eventId: string, attempt: number): boolean {
  return attempt === 1 && isOneOfSome(eventId);
}

/** Replays of an event meet the same. */
function isOneOfSome(eventId: string): boolean {
  const [base = ''] = eventId.split('/');
  return (createHash('sha256').update(base).digest()[0] ?? 0) % SOME === 0;
}
