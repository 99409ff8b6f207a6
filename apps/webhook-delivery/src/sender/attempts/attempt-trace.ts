import {
  isSampledTrace,
  parseTraceparent,
  traceOfAttempt,
  traceOfDelivery,
  type WebhookAttempt,
} from '@waypost/domain';
import { parseUrl } from '@waypost/egress';
import type { EndedSpan, Traces } from '@waypost/platform';
import type { PendingDelivery } from '../backlogs/subscription-backlog.js';

export interface AttemptTracer {
  /** returns the `traceparent` for the receiver of the next request. */
  contextOf(pending: PendingDelivery): string;
  /** @param traceparent the result of contextOf() */
  ended(pending: PendingDelivery, traceparent: string, record: WebhookAttempt): void;
}

export function createAttemptTracer({ recorder, sampleRatio }: Traces): AttemptTracer {
  const ofDelivery = ({ delivery, traceparent }: PendingDelivery): string =>
    traceOfDelivery(delivery, traceparent, sampleRatio);
  return {
    contextOf(pending) {
      const { progress } = pending;
      const number = progress.type === 'pending' ? progress.nextAttempt + progress.probes : 1;
      return traceOfAttempt(ofDelivery(pending), number);
    },
    ended(pending, traceparent, record) {
      if (recorder === null || !isSampledTrace(traceparent)) return;
      // If the record has no context, there is no span of the delivery: the trace begins with its attempts.
      const parent = pending.traceparent === null ? null : parseTraceparent(ofDelivery(pending));
      recorder.record({ ...spanOf(record), context: parseTraceparent(traceparent), parent });
    },
  };
}

/** Follows the semantic conventions for HTTP clients, but omits `url.full`: path and query of a webhook are often its secret. */
function spanOf(record: WebhookAttempt): Omit<EndedSpan, 'context' | 'parent'> {
  const { attempt, startedAt, durationMs, statusCode, errorCode, probe } = record;
  const failure = errorCode ?? (statusCode !== null && statusCode >= 400 ? String(statusCode) : null);
  return {
    name: 'POST',
    kind: 'client',
    startedAt,
    endedAt: startedAt + durationMs,
    isError: failure !== null,
    attributes: {
      ...serverOf(record.url),
      'http.request.method': 'POST',
      ...(statusCode === null ? {} : { 'http.response.status_code': statusCode }),
      ...(failure === null ? {} : { 'error.type': failure }),
      ...(attempt > 1 ? { 'http.request.resend_count': attempt - 1 } : {}),
      'waypost.event.id': record.eventId,
      'waypost.event.type': record.eventType,
      'waypost.fleet.id': record.fleetId,
      'waypost.subscription.id': record.subscriptionId,
      'waypost.attempt.number': attempt,
      'waypost.attempt.probe': probe,
      'waypost.attempt.outcome': record.outcome,
    },
  };
}

/** Empty if the URL cannot be parsed, because the subscription is gone. */
function serverOf(url: string): EndedSpan['attributes'] {
  const server = parseUrl(url);
  if (!server) return {};
  const { protocol, hostname, port } = server;
  const scheme = protocol.slice(0, -1);
  const usualPort = scheme === 'https' ? 443 : 80;
  return { 'url.scheme': scheme, 'server.address': hostname, 'server.port': port === '' ? usualPort : Number(port) };
}
