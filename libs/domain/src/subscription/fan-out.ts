import { DomainError } from '../domain-error.js';
import { eventId as eventIdOf } from '../event/event-id.js';
import { isEventType } from '../event/event-type.js';
import { payloadFormatOf, serializeBody } from '../event/payload-format.js';
import type { FleetEvent } from '../records/fleet-event.js';
import type { WebhookDelivery } from '../records/webhook-delivery.js';
import type { WebhookSubscription } from '../records/webhook-subscription.js';

type Recipient = Pick<WebhookSubscription, 'id' | 'payloadFormat'>;

/**
 * Yields deliveries on demand, so that a caller can do something else in between.
 * @throws DomainError `unknown_payload_format` or `unknown_event_type`: only a newer version can write it
 */
export function* decideFanOut(
  event: FleetEvent,
  matching: readonly Recipient[],
  nowMs: number,
): Generator<WebhookDelivery, void> {
  if (matching.length > 0 && !isEventType(event.eventType)) {
    const hint = 'start a version that knows it';
    throw new DomainError('unknown_event_type', `Event type "${event.eventType}" is unknown: ${hint}.`);
  }
  for (const subscription of matching) yield deliveryOf(event, subscription, nowMs);
}

/** @throws DomainError `unknown_payload_format`: only a newer version can write it */
export function deliveryOf(event: FleetEvent, subscription: Recipient, nowMs: number): WebhookDelivery {
  const format = payloadFormatOf(subscription.payloadFormat);
  const { fleetId, deviceId, eventType, eventTime, resourceId } = event;
  const subscriptionId = subscription.id;
  const eventId = eventIdOf({ fleetId, subscriptionId, deviceId, eventType, eventTime, resourceId });
  return {
    eventId,
    subscriptionId,
    fleetId,
    deviceId,
    eventType,
    eventTime,
    format,
    body: serializeBody(format, event, eventId),
    createdAt: nowMs,
    series: 0,
    replayId: null,
  };
}

/** a paused subscription matches too: its deliveries wait in the log. */
export function matchesSubscription(subscription: WebhookSubscription, event: FleetEvent): boolean {
  return (
    subscription.status !== 'disabled' &&
    subscription.fleetId === event.fleetId &&
    subscription.eventType === event.eventType &&
    (subscription.deviceIds === null || subscription.deviceIds.includes(event.deviceId))
  );
}
