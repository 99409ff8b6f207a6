import { draftEvent } from '../event/draft-event.js';
import { TEST_EVENT_TYPE } from '../event/event-type.js';
import type { WebhookDelivery } from '../records/webhook-delivery.js';
import type { WebhookSubscription } from '../records/webhook-subscription.js';
import { deliveryOf } from './fan-out.js';

/** No device of the fleet, so a test does not show up among the events of a vehicle. */
const TEST_DEVICE_ID = 'test-device';

export interface TestRequest {
  /** Makes the eventId unique. */
  readonly requestId: string;
  readonly nowMs: number;
}

/** @throws DomainError `unknown_payload_format`: only a newer version can write it */
export function testDelivery(subscription: WebhookSubscription, { requestId, nowMs }: TestRequest): WebhookDelivery {
  const event = draftEvent(subscription.fleetId, TEST_DEVICE_ID, TEST_EVENT_TYPE, nowMs);
  event.resourceId = requestId;
  return deliveryOf(event, subscription, nowMs);
}
