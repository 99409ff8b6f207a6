import { EVENT_TYPES } from '@waypost/domain';
import { documentedEventId, documentedResourceId } from './documented-event-id.js';
import type { PlainEvent } from './plain-rules.js';
import type { RunningWaypost } from './running-waypost.js';

/** Those of a fleet without geofences. */
export const eventTypes = EVENT_TYPES.filter((type) => !type.startsWith('geofence_'));

export interface Subscription {
  readonly id: string;
  readonly eventType: string;
  readonly url: string;
  readonly secret: string;
  /** null: every device. */
  readonly deviceIds: readonly string[] | null;
}

interface SubscriptionOptions {
  readonly fleet: string;
  readonly url: string;
  readonly types?: readonly string[];
  readonly deviceIds?: readonly string[];
}

/** One subscription an event type. */
export async function subscribe(
  waypost: RunningWaypost,
  { fleet, url, types = eventTypes, deviceIds }: SubscriptionOptions,
): Promise<Subscription[]> {
  const { data } = await waypost.api<{ readonly data: readonly Omit<Subscription, 'deviceIds'>[] }>(
    fleet,
    'POST',
    '/public/v1/webhook-subscriptions',
    { url, eventTypes: types, deviceIds },
  );
  return data.map(({ id, eventType, url: sentTo, secret }) => ({
    ...{ id, eventType, url: sentTo, secret },
    deviceIds: deviceIds ?? null,
  }));
}

/** One event for one subscription. */
export interface Delivery extends PlainEvent {
  readonly eventId: string;
  readonly subscriptionId: string;
}

/** What has to be delivered of a fleet's events, under the ids that the documents give. */
export function expectedDeliveries(
  fleet: string,
  events: readonly PlainEvent[],
  subscriptions: readonly Subscription[],
): Delivery[] {
  const eventId = documentedEventId();
  const resourceId = documentedResourceId();
  const resourceOf = (fleetId: string, { deviceId, eventType: type, startTime }: PlainEvent): string[] =>
    startTime === undefined ? [] : [resourceId(fleetId, deviceId, type.split('_')[0] ?? '', startTime)];
  return subscriptions.flatMap(({ id, eventType, deviceIds }) =>
    events
      .filter((event) => event.eventType === eventType && (deviceIds?.includes(event.deviceId) ?? true))
      .map((event) => ({
        ...event,
        subscriptionId: id,
        eventId: eventId(fleet, id, event.deviceId, event.eventType, event.eventTime, ...resourceOf(fleet, event)),
      })),
  );
}

/** A delivery in one line, to compare lists of them. */
export function deliveryLine({ subscriptionId, eventType, deviceId, eventTime, eventId }: Delivery): string {
  return [subscriptionId, eventType, deviceId, eventTime, eventId].join(' ');
}

export function eventLine({ eventType, deviceId, eventTime }: PlainEvent): string {
  return [eventType, deviceId, eventTime].join(' ');
}
