import type { V2Event } from '@waypost/client';

type Attempt = V2Event['delivery']['attempts'][number];

/** The headers of one attempt, as text, without signatures, which are not kept, and those that the subscription adds. */
export function sentHeaders({ eventId, subscriptionId }: V2Event, { attempt, startedAt }: Attempt): string {
  const seconds = String(Math.floor(Date.parse(startedAt) / 1_000));
  return [
    'content-type: application/json',
    `webhook-id: ${eventId}`,
    `webhook-timestamp: ${seconds}`,
    'webhook-signature: v1,…',
    `x-service-event-id: ${eventId}`,
    `x-service-subscription-id: ${subscriptionId}`,
    `x-service-attempt: ${String(attempt)}`,
    `x-service-signature: t=${seconds},v1=…`,
  ].join('\n');
}
