import type { AttemptDecision, AttemptResult, WebhookAttempt } from '@waypost/domain';
import type { PendingDelivery } from './subscription-queue.js';

export interface EndedAttempt {
  readonly pending: PendingDelivery;
  readonly url: string;
  readonly attempt: number;
  readonly dueAt: number;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly result: AttemptResult;
  readonly decision: AttemptDecision;
}

const MAX_DETAIL_CHARACTERS = 500;

/** The record of one attempt; the first of a series carries the body, so that the log alone rebuilds the history. */
export const attemptRecord = (ended: EndedAttempt): WebhookAttempt => {
  const { pending, result, decision, attempt, startedAt } = ended;
  const { delivery, progress } = pending;
  // Field by field: this runs for each attempt, and a spread costs several times as much.
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
    url: ended.url,
    attempt,
    dueAt: ended.dueAt,
    startedAt,
    firstAttemptAt: progress.type === 'pending' ? progress.firstAttemptAt : startedAt,
    durationMs: Math.max(0, ended.endedAt - startedAt),
    statusCode: result.type === 'response' ? result.statusCode : null,
    errorCode: result.type === 'error' ? result.errorCode : null,
    errorDetail: result.type === 'error' ? result.detail.slice(0, MAX_DETAIL_CHARACTERS) : null,
    outcome: decision.outcome,
    decision: decision.decision,
    nextDueAt: decision.outcome === 'retrying' ? decision.nextDueAt : null,
    body: attempt === 1 ? delivery.body : null,
  };
};
