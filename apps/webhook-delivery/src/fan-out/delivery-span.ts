import { topics } from '@waypost/contracts';
import { parseTraceparent, type WebhookDelivery } from '@waypost/domain';
import { type EndedSpan, messageSpan } from '@waypost/platform';

export interface SpanOfDeliveryOptions {
  readonly traceparent: string;
  /** The trace context of the event, as received. */
  readonly ofEvent: string | null;
  readonly partition: number;
  readonly readAt: number;
}

/** The fan-out of an event to one subscription: from the reading of the event until the delivery is made. */
export function spanOfDelivery(
  { eventId, eventType, fleetId, subscriptionId, createdAt }: WebhookDelivery,
  { traceparent, ofEvent, partition, readAt }: SpanOfDeliveryOptions,
): EndedSpan {
  const { name, attributes } = messageSpan({ operation: 'create', topic: topics.webhookDeliveries.name, partition });
  return {
    name,
    kind: 'producer',
    context: parseTraceparent(traceparent),
    parent: parseTraceparent(ofEvent),
    startedAt: readAt,
    endedAt: createdAt,
    attributes: {
      ...attributes,
      'waypost.event.id': eventId,
      'waypost.event.type': eventType,
      'waypost.fleet.id': fleetId,
      'waypost.subscription.id': subscriptionId,
    },
  };
}
