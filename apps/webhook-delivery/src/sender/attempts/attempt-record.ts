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
  /** What the receiver got. */
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

/** What an attempt tells of its endpoint. */
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
/** The two clocks of a moment are read one after the other; a larger difference is a step of the epoch clock. */
const LEAST_STEP_MS = 100;

/** The record of one attempt or probe. The first one of a series carries the body, so that the log alone can rebuild the history. */
export function attemptRecord(made: Omit<EndedAttempt, 'traceparent'>): WebhookAttempt {
  const { pending, result, decision, attempt, isProbe, started, ended } = made;
  const startedAt = started.epochMs;
  const { delivery, progress } = pending;
  const before = progress.type === 'pending' ? progress : null;
  const heldMs = retryAfterMs(result, ended.epochMs);
  // Field by field: this runs per attempt, and a spread costs several times as much.
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

/** The end of a delivery that the history would no longer keep: no attempt was made. */
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

/** After a step of the epoch clock, `startedAt - dueAt` would not say how late the attempt was, which the history reports. */
function dueAtOf({ due, started }: Pick<EndedAttempt, 'due' | 'started'>): number {
  const dueAt = started.epochMs - Math.round(started.monotonicMs - due.monotonicMs);
  return Math.abs(dueAt - due.epochMs) < LEAST_STEP_MS ? due.epochMs : dueAt;
}

/** All but tabs and line feeds. */
const CONTROL_CHARACTERS = /(?![\t\n])\p{Cc}/gu;

/** What the receiver said of its refusal: bytes of a stranger, made safe to log and to store. */
function responseText(result: AttemptResult): string | null {
  if (result.type === 'error' || result.body === undefined || result.body.length === 0) return null;
  const text = Buffer.from(result.body).toString('utf8').replace(CONTROL_CHARACTERS, '');
  // Again: each byte that is no text has become three. What is cut in the middle of a character ends before it.
  return new TextDecoder().decode(Buffer.from(text).subarray(0, MAX_RESPONSE_TEXT_BYTES), { stream: true });
}
