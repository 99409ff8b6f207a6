import {
  type AttemptDecision,
  type AttemptResult,
  MAX_RESPONSE_TEXT_BYTES,
  retryAfterMs,
  type WebhookAttempt,
} from '@waypost/domain';
import type { Moment } from '../../process/clocks.js';
import type { PendingDelivery } from '../backlogs/subscription-backlog.js';

export interface EndedAttempt {
  readonly pending: PendingDelivery;
  /** The header that the receiver got. */
  readonly traceparent: string;
  readonly url: string;
  readonly attempt: number;
  readonly isProbe: boolean;
  readonly due: Moment;
  readonly started: Moment;
  readonly ended: Moment;
  readonly result: AttemptResult;
  /** expired: no attempt was made. */
  readonly decision: AttemptDecision | { readonly outcome: 'expired'; readonly decision: 'expired' };
}

/** What an attempt says about its endpoint. */
export type AttemptOutcome = Pick<
  WebhookAttempt,
  'eventId' | 'statusCode' | 'errorCode' | 'fleetId' | 'retryAfterMs'
> & {
  readonly deliveryOffset: number;
  readonly isAccepted: boolean;
  readonly isFailure: boolean;
  readonly ended: Moment;
};

const MAX_DETAIL_CHARACTERS = 500;
/** The two clocks are read one after the other; only a larger difference means that the epoch clock was set. */
const LEAST_STEP_MS = 100;

/**
 * Builds the record of one attempt or probe. The first one of a series has the body, so that the history can be
 * rebuilt from the log alone.
 */
export function attemptRecord(made: Omit<EndedAttempt, 'traceparent'>): WebhookAttempt {
  const { pending, result, decision, attempt, isProbe, started, ended } = made;
  const startedAt = started.epochMs;
  const { delivery, progress } = pending;
  const before = progress.type === 'pending' ? progress : null;
  const heldMs = retryAfterMs(result, ended.epochMs);
  // Lists every field: this runs per attempt, and a spread costs several times as much.
  return {
    eventId: delivery.eventId,
    subscriptionId: delivery.subscriptionId,
    fleetId: delivery.fleetId,
    deviceId: delivery.deviceId,
    eventType: delivery.eventType,
    eventTime: delivery.eventTime,
    format: delivery.format,
    series: delivery.series,
    replayId: delivery.replayId,
    deliveryOffset: pending.offset,
    deliveryCreatedAt: delivery.createdAt,
    url: made.url,
    attempt,
    dueAt: dueAtOf(made),
    startedAt,
    firstAttemptAt: before?.firstAttemptAt ?? startedAt,
    durationMs: Math.round(ended.monotonicMs - started.monotonicMs),
    statusCode: result.type === 'response' ? result.statusCode : null,
    errorCode: result.type === 'error' ? result.errorCode : null,
    errorDetail: result.type === 'error' ? result.detail.slice(0, MAX_DETAIL_CHARACTERS) : null,
    outcome: decision.outcome,
    decision: decision.decision,
    nextDueAt: decision.outcome === 'retrying' ? decision.nextDueAt : null,
    body: before === null ? delivery.body : null,
    probe: isProbe,
    probes: (before?.probes ?? 0) + (isProbe ? 1 : 0),
    retryAfterMs: heldMs > 0 ? heldMs : null,
    responseBody: decision.outcome === 'delivered' ? null : responseText(result),
  };
}

/** Builds the record that ends a delivery too old for the history: no attempt was made. */
export function expiredRecord(pending: PendingDelivery, now: Moment, url: string): WebhookAttempt {
  return attemptRecord({
    pending,
    started: now,
    ended: now,
    due: pending.due,
    url,
    attempt: pending.progress.type === 'pending' ? pending.progress.nextAttempt : 1,
    isProbe: false,
    result: { type: 'error', errorCode: 'expired', detail: 'it waited for longer than the history keeps it' },
    decision: { outcome: 'expired', decision: 'expired' },
  });
}

/** The history reports lateness as `startedAt - dueAt`, which a step of the epoch clock would distort. */
function dueAtOf({ due, started }: Pick<EndedAttempt, 'due' | 'started'>): number {
  const dueAt = started.epochMs - Math.round(started.monotonicMs - due.monotonicMs);
  return Math.abs(dueAt - due.epochMs) < LEAST_STEP_MS ? due.epochMs : dueAt;
}

/** Control characters except tabs and line feeds. */
const CONTROL_CHARACTERS = /(?![\t\n])\p{Cc}/gu;

/** The receiver's error text: untrusted bytes, made safe to log and to store. */
function responseText(result: AttemptResult): string | null {
  if (result.type === 'error' || result.body === undefined || result.body.length === 0) return null;
  const text = Buffer.from(result.body).toString('utf8').replace(CONTROL_CHARACTERS, '');
  // Cut again: each invalid byte has become three. A character cut in the middle is dropped.
  return new TextDecoder().decode(Buffer.from(text).subarray(0, MAX_RESPONSE_TEXT_BYTES), { stream: true });
}
