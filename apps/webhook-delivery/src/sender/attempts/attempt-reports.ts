import { isAttempt, operationId, type WebhookAttempt } from '@waypost/domain';
import type { StreamsLogger } from '@waypost/streams';
import type { DeliveryMetrics } from '../../metrics/delivery-metrics.js';
import type { AttemptLog } from './attempt-log.js';

interface AttemptReportDeps {
  readonly metrics: Pick<DeliveryMetrics, 'attemptEnded'>;
  readonly logger: StreamsLogger;
  readonly log: Pick<AttemptLog, 'publish'>;
}

/** Writes the metrics, log line and operational event of an attempt; `AttemptLog` writes its record. */
export function reportAttempt(record: WebhookAttempt, { metrics, logger, log }: AttemptReportDeps): void {
  const { outcome, durationMs, decision, attempt, probe, statusCode } = record;
  const kind = probe ? 'probe' : attempt > 1 ? 'retry' : 'first';
  if (probe || isAttempt(record))
    metrics.attemptEnded({ outcome, kind, statusCode, durationMs, latenessMs: record.startedAt - record.dueAt });
  if (outcome === 'delivered') return;
  const { eventId, subscriptionId, errorCode, series } = record;
  const fields = { eventId, subscriptionId, attempt, probe, outcome, decision, statusCode, errorCode, durationMs };
  logger[outcome === 'failed' ? 'info' : 'debug']('delivery_attempted', fields);
  if (decision !== 'attempts_exhausted') return;
  const reason = `none of ${String(attempt)} attempts was accepted`;
  const occurredAt = record.startedAt + durationMs;
  // Not by its offset, which another delivery has after a move to new topics.
  const about = `${eventId}:${String(series)}`;
  publishAttempt(log, record, { type: 'exhausted', about, occurredAt, reason });
}

interface AttemptEvent {
  readonly type: 'exhausted' | 'probed';
  /** Distinguishes two events of this type. */
  readonly about: string;
  readonly occurredAt: number;
  readonly reason: string;
}

export function publishAttempt(
  log: Pick<AttemptLog, 'publish'>,
  { subscriptionId, fleetId, eventId, deliveryOffset, statusCode, errorCode }: WebhookAttempt,
  { type, about, occurredAt, reason }: AttemptEvent,
): void {
  const id = operationId({ subscriptionId, type, about });
  const details = { fleetId, eventId, deliveryOffset, statusCode, errorCode };
  log.publish({ ...details, id, subscriptionId, type, occurredAt, reason });
}
