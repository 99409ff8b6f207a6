import type { WebhookAttempt, WebhookDelivery, WebhookReplay } from '@waypost/contracts';

/** The start of the window of `replayOf`. */
export const START = Date.UTC(2026, 4, 1);
export const SUBSCRIPTION = 'subscription-1';

/** The n-th delivery of the subscription. */
export const deliveryOf = (n: number, more: Partial<WebhookDelivery> = {}): WebhookDelivery => ({
  eventId: `event-${String(n)}`,
  subscriptionId: SUBSCRIPTION,
  fleetId: 'fleet-1',
  deviceId: 'device-1',
  eventType: 'position',
  eventTime: START,
  format: 'v1',
  body: `{"n":${String(n)},"text":"Zürich 🚚"}`,
  createdAt: START,
  series: 0,
  replayId: null,
  ...more,
});

/** An attempt that delivered it at the start of the window. */
export const attemptOf = (
  delivery: WebhookDelivery,
  deliveryOffset: number,
  more: Partial<WebhookAttempt> = {},
): WebhookAttempt => {
  const { eventId, subscriptionId, fleetId, deviceId, eventType, eventTime, format, series, replayId } = delivery;
  return {
    ...{ eventId, subscriptionId, fleetId, deviceId, eventType, eventTime, format, series, replayId, deliveryOffset },
    ...{ deliveryCreatedAt: START, url: 'https://receiver.example/', attempt: 1, dueAt: START, durationMs: 1 },
    ...{ startedAt: START, firstAttemptAt: START, statusCode: 200, errorCode: null, errorDetail: null },
    ...{ outcome: 'delivered', decision: 'accepted', nextDueAt: null, body: delivery.body },
    ...more,
  };
};

/** Of everything in a minute, as fast as can be. */
export const replayOf = (more: Partial<WebhookReplay> = {}): WebhookReplay => ({
  replayId: 'replay-1',
  subscriptionId: SUBSCRIPTION,
  fleetId: 'fleet-1',
  series: 1,
  startDate: START,
  endDate: START + 60_000,
  status: null,
  eventType: null,
  deviceId: null,
  ratePerSecond: 10_000,
  cancelled: false,
  version: 1,
  createdAt: START,
  updatedAt: START,
  ...more,
});
