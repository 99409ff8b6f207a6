import type { WebhookAttempt, WebhookDelivery, WebhookSubscription } from '@waypost/domain';
import { attemptOf, subscriptionOf } from '../../../../../test/support/samples.js';

/** A moment ago. */
const MADE_AT = Date.now() - 1_000;

export function aDelivery(n: number): WebhookDelivery {
  return {
    eventId: `event-${String(n)}`,
    subscriptionId: 'subscription-1',
    fleetId: 'fleet-1',
    deviceId: `device-${String(n)}`,
    eventType: 'position',
    eventTime: 1_000,
    format: 'v1',
    body: `{"n":${String(n)}}`,
    createdAt: MADE_AT,
    series: 0,
    replayId: null,
  };
}

export function anAttempt(n: number, about: Partial<WebhookAttempt>): WebhookAttempt {
  const { createdAt, body: _body, ...delivery } = aDelivery(n);
  return attemptOf({
    ...delivery,
    deliveryOffset: n - 1,
    deliveryCreatedAt: createdAt,
    url: 'https://example.org/',
    startedAt: 3_000,
    firstAttemptAt: 2_000,
    durationMs: 10,
    statusCode: 503,
    outcome: 'retrying',
    decision: 'temporary_status',
    nextDueAt: 4_000,
    ...about,
  });
}

export function aSubscription(id: string): WebhookSubscription {
  return subscriptionOf({ id, url: `https://${id}.example.org/`, secrets: [], createdAt: 0, updatedAt: 0 });
}
