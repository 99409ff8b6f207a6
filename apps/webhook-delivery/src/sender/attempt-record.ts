import type { AttemptDecision, AttemptResult, WebhookAttempt, WebhookDelivery } from '@waypost/domain';

export interface EndedAttempt {
  readonly delivery: WebhookDelivery;
  readonly deliveryOffset: number;
  readonly url: string;
  readonly attempt: number;
  readonly dueAt: number;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly firstAttemptAt: number;
  readonly result: AttemptResult;
  readonly decision: AttemptDecision;
}

const MAX_DETAIL_CHARACTERS = 500;

/** The record of one attempt; the first of a series carries the body, so that the log alone rebuilds the history. */
export const attemptRecord = (ended: EndedAttempt): WebhookAttempt => {
  const { delivery, result, decision, attempt } = ended;
  const { eventId, subscriptionId, fleetId, deviceId, eventType, eventTime, format, series, replayId } = delivery;
  return {
    ...{ eventId, subscriptionId, fleetId, deviceId, eventType, eventTime, format, series, replayId },
    deliveryOffset: ended.deliveryOffset,
    deliveryCreatedAt: delivery.createdAt,
    url: ended.url,
    attempt,
    dueAt: ended.dueAt,
    startedAt: ended.startedAt,
    firstAttemptAt: ended.firstAttemptAt,
    durationMs: Math.max(0, ended.endedAt - ended.startedAt),
    statusCode: result.type === 'response' ? result.statusCode : null,
    errorCode: result.type === 'error' ? result.errorCode : null,
    errorDetail: result.type === 'error' ? result.detail.slice(0, MAX_DETAIL_CHARACTERS) : null,
    outcome: decision.outcome,
    decision: decision.decision,
    nextDueAt: decision.outcome === 'retrying' ? decision.nextDueAt : null,
    body: attempt === 1 ? delivery.body : null,
  };
};
