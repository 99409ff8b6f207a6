import { eventId as eventIdOf } from '../event/event-id.js';
import { TEST_EVENT_TYPE } from '../event/event-type.js';
import { draftEvent } from '../event/fleet-event.js';
import { payloadFormatOf, serialiseBody } from '../event/payload-format.js';
import type { WebhookDelivery } from '../records/webhook-delivery.js';
import type { WebhookSubscription } from '../records/webhook-subscription.js';

/** The device of a test event. It is none of the fleet's, so a test does not show up among what a vehicle did. */
export const TEST_DEVICE_ID = 'test-device';

export interface TestRequest {
  /** Unique: it makes the eventId one that no other event has. */
  readonly requestId: string;
  /** Epoch milliseconds. */
  readonly nowMs: number;
}

/**
 * The delivery of a test event: written as a real one is, known by its type, and about nothing but a device
 * that does not exist.
 *
 * @throws DomainError `unknown_payload_format` when the subscription asks for one that this version does not know
 */
export function testDelivery(subscription: WebhookSubscription, { requestId, nowMs }: TestRequest): WebhookDelivery {
  const { id: subscriptionId, fleetId } = subscription;
  const format = payloadFormatOf(subscription.payloadFormat);
  const event = draftEvent(fleetId, TEST_DEVICE_ID, TEST_EVENT_TYPE, nowMs);
  const { deviceId, eventType, eventTime } = event;
  const eventId = eventIdOf({ fleetId, subscriptionId, deviceId, eventType, eventTime, resourceId: requestId });
  return {
    eventId,
    subscriptionId,
    fleetId,
    deviceId,
    eventType,
    eventTime,
    format,
    body: serialiseBody(format, event, eventId),
    createdAt: nowMs,
    series: 0,
    replayId: null,
  };
}
