import { eventId as eventIdOf } from '../event/event-id.js';
import { TEST_EVENT_TYPE } from '../event/event-type.js';
import { draftEvent } from '../event/fleet-event.js';
import { payloadFormatOf, serialiseBody } from '../event/payload-format.js';
import type { WebhookDelivery } from '../records/webhook-delivery.js';
import type { WebhookSubscription } from '../records/webhook-subscription.js';

/** Not a device of the fleet, so a test does not show up among the events of a vehicle. */
export const TEST_DEVICE_ID = 'test-device';

export interface TestRequest {
  /** Makes the eventId unique. */
  readonly requestId: string;
  readonly nowMs: number;
}

/** @throws DomainError `unknown_payload_format`: only a newer version can write it */
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
