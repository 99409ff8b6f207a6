import { PROBE_EVERY_MS } from './outage-policy.js';
import { retryAfterMs } from './retry-after.js';
import { MAX_ATTEMPTS, retryDelayMs } from './retry-delay.js';

export interface FinishedAttempt {
  readonly attempt: number;
  readonly result: AttemptResult;
  readonly auth: 'none' | 'bearer';
  readonly unauthorizedBefore: boolean;
  /** The wait starts here. */
  readonly endedAt: number;
  readonly random: number;
}

export type RetryReason = 'temporary_status' | 'temporary_error' | 'unauthorized' | 'unexpected_status';

export type FailureReason =
  | 'permanent_status'
  | 'redirect_refused'
  | 'address_refused'
  | 'url_refused'
  | 'subscription_deleted'
  | 'subscription_disabled'
  | 'expired'
  | 'attempts_exhausted';

/** `renewToken`: the bearer token must not be used again. */
export type AttemptDecision =
  | { readonly outcome: 'delivered'; readonly decision: 'accepted' }
  | {
      readonly outcome: 'retrying';
      readonly decision: RetryReason;
      readonly nextDueAt: number;
      readonly renewToken: boolean;
    }
  | { readonly outcome: 'failed'; readonly decision: FailureReason; readonly renewToken: boolean };

type Verdict =
  | { readonly type: 'accepted' }
  | { readonly type: 'permanent'; readonly reason: FailureReason }
  | { readonly type: 'temporary'; readonly reason: RetryReason };

/** Decides what follows from the result of an attempt. A 408 on an idle connection is not one: libs/egress resends. */
export function decideAttempt(finished: FinishedAttempt): AttemptDecision {
  const verdict = verdictOf(finished);
  switch (verdict.type) {
    case 'accepted':
      return { outcome: 'delivered', decision: 'accepted' };
    case 'permanent':
      return { outcome: 'failed', decision: verdict.reason, renewToken: false };
    case 'temporary':
      return retryOrGiveUp(finished, verdict.reason);
  }
}

/** a probe is not one of the five attempts. Unless its result is final, another probe follows, after any `Retry-After`. */
export function decideProbe(probe: Omit<FinishedAttempt, 'attempt'>, startedAt: number): AttemptDecision {
  const decision = decideAttempt({ ...probe, attempt: 1 });
  if (decision.outcome !== 'retrying') return decision;
  const { result, endedAt } = probe;
  return { ...decision, nextDueAt: Math.max(startedAt + PROBE_EVERY_MS, endedAt + retryAfterMs(result, endedAt)) };
}

function retryOrGiveUp(finished: FinishedAttempt, reason: RetryReason): AttemptDecision {
  const renewToken = reason === 'unauthorized';
  if (finished.attempt >= MAX_ATTEMPTS) return { outcome: 'failed', decision: 'attempts_exhausted', renewToken };
  const atOnce = renewToken && !finished.unauthorizedBefore;
  const delayMs = atOnce ? 0 : waitMs(finished);
  return { outcome: 'retrying', decision: reason, nextDueAt: Math.round(finished.endedAt + delayMs), renewToken };
}

function waitMs({ attempt, random, result, endedAt }: FinishedAttempt): number {
  const scheduledMs = retryDelayMs(attempt, random);
  return Math.max(scheduledMs, retryAfterMs(result, endedAt));
}

/** whether a result is permanent or temporary. */
function verdictOf({ result, auth }: FinishedAttempt): Verdict {
  return result.type === 'error' ? verdictOfError(result.errorCode) : verdictOfStatus(result.statusCode, auth);
}

function verdictOfStatus(statusCode: number, auth: 'none' | 'bearer'): Verdict {
  switch (Math.floor(statusCode / 100)) {
    case 2:
      return { type: 'accepted' };
    case 3:
      return { type: 'permanent', reason: 'redirect_refused' };
    case 4:
      return verdictOfClientError(statusCode, auth);
    case 5:
      return { type: 'temporary', reason: 'temporary_status' };
    default:
      // Neither accepted nor refused in HTTP terms: try again rather than lose the event.
      return { type: 'temporary', reason: 'unexpected_status' };
  }
}

function verdictOfClientError(statusCode: number, auth: 'none' | 'bearer'): Verdict {
  if (statusCode === 429) return { type: 'temporary', reason: 'temporary_status' };
  if (statusCode === 401 && auth === 'bearer') return { type: 'temporary', reason: 'unauthorized' };
  return { type: 'permanent', reason: 'permanent_status' };
}

function verdictOfError(errorCode: AttemptErrorCode): Verdict {
  switch (errorCode) {
    case 'address_refused':
    case 'url_refused':
    case 'subscription_deleted':
    case 'subscription_disabled':
    case 'expired':
      return { type: 'permanent', reason: errorCode };
    case 'timeout':
    case 'dns_error':
    case 'connection_refused':
    case 'connection_reset':
    case 'connection_failed':
    case 'tls_error':
    case 'protocol_error':
    case 'token_error':
    case 'secret_unreadable':
    case 'subscription_unknown':
    case 'network_error':
      return { type: 'temporary', reason: 'temporary_error' };
  }
}

/** Why an attempt has no status code. A closed list, which history and docs show. */
export const ATTEMPT_ERROR_CODES = [
  'timeout',
  'dns_error',
  'connection_refused',
  'connection_reset',
  'connection_failed',
  'tls_error',
  'protocol_error',
  'address_refused',
  'url_refused',
  'token_error',
  'secret_unreadable',
  'subscription_deleted',
  'subscription_disabled',
  'subscription_unknown',
  'expired',
  'network_error',
] as const;

export type AttemptErrorCode = (typeof ATTEMPT_ERROR_CODES)[number];

export type AttemptResult =
  | {
      readonly type: 'response';
      readonly statusCode: number;
      readonly retryAfter?: string | null | undefined;
      /** The part of the body that came with the headers. */
      readonly body?: Uint8Array | undefined;
    }
  | { readonly type: 'error'; readonly errorCode: AttemptErrorCode; readonly detail: string };
