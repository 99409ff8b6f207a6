import type { FleetEvent } from '../event/fleet-event.js';
import type { WebhookSubscription } from './webhook-subscription.js';

/** Whether a subscription gets an event. */
export function matchesSubscription(subscription: WebhookSubscription, event: FleetEvent): boolean {
  return (
    subscription.status === 'active' &&
    subscription.fleetId === event.fleetId &&
    subscription.eventType === event.eventType &&
    (subscription.deviceIds === null || subscription.deviceIds.includes(event.deviceId))
  );
}
