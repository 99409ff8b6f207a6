import type { Subscription, V2Event } from '@waypost/client';

type Attempt = V2Event['delivery']['attempts'][number];

/**
 * The headers of one attempt, as text. What is not kept is left out of their values: signatures, the span of the
 * attempt, the token. Neither those of HTTP itself are among them nor those of the subscription's own.
 *
 * @param auth how its subscription authenticates now: the history does not say how it did then
 */
export function sentHeaders(
  { eventId, subscriptionId }: V2Event,
  { attempt, startedAt }: Attempt,
  auth: Subscription['auth'] | undefined,
): string {
  const seconds = String(Math.floor(Date.parse(startedAt) / 1_000));
  return [
    'content-type: application/json',
    ...(auth?.type === 'bearer' ? ['authorization: Bearer …'] : []),
    `webhook-id: ${eventId}`,
    `webhook-timestamp: ${seconds}`,
    'webhook-signature: v1,…',
    `x-service-event-id: ${eventId}`,
    `x-service-subscription-id: ${subscriptionId}`,
    `x-service-attempt: ${String(attempt)}`,
    `x-service-signature: t=${seconds},v1=…`,
    'traceparent: 00-…',
  ].join('\n');
}
