import {
  decideFanOut,
  type FleetEvent,
  matchesSubscription,
  type WebhookAttempt,
  type WebhookDelivery,
  type WebhookSubscription,
} from '@waypost/domain';

export interface DeliveryFindings {
  /** Deliveries that the subscriptions of today, unchanged since before the event, must have got. */
  readonly expected: number;
  readonly missing: readonly string[];
  /** Deliveries of the events, of whatever subscription. */
  readonly found: number;
  readonly repeated: readonly string[];
  readonly delivered: number;
  readonly failed: number;
  /** Between two attempts, or before the first. */
  readonly pending: number;
  /** Subscriptions of today that are judged by what was delivered only: they were changed after some of the events. */
  readonly changedSubscriptions: number;
  /** In the logs of deliveries and attempts, and neither. */
  readonly unreadable: readonly string[];
}

/** A subscription as its topic has it. */
export interface PublishedSubscription {
  readonly subscription: WebhookSubscription;
  /** Time of its newest record, epoch milliseconds: fan-out sees a change when it is published, not when it was made. */
  readonly publishedAt: number;
}

/** From the time of a record to the end of its transaction, with clocks that do not quite agree. */
const PUBLICATION_MS = 5_000;

interface Known {
  times: number;
  outcome: string | null;
}

/** Follows events to their deliveries and final outcomes; first series only, since replays are requested. */
export interface DeliveryLedger {
  /** @param appendedAt broker time of the event's record, epoch milliseconds */
  event(event: FleetEvent, appendedAt: number): void;
  delivery(delivery: Pick<WebhookDelivery, 'eventId' | 'series' | 'eventType' | 'deviceId'>): void;
  attempt(attempt: Pick<WebhookAttempt, 'eventId' | 'series' | 'outcome'>): void;
  unreadable(name: string): void;
  findings(): DeliveryFindings;
}

export function createDeliveryLedger(subscriptions: readonly PublishedSubscription[]): DeliveryLedger {
  const expected = new Map<string, string>();
  /** By eventId, which is one of event and subscription. */
  const known = new Map<string, Known>();
  const ofRange = new Set<string>();
  const changed = new Set<string>();
  const unreadable: string[] = [];
  const byKind = grouped(subscriptions.map(({ subscription }) => subscription));
  const published = new Map(subscriptions.map(({ subscription, publishedAt }) => [subscription.id, publishedAt]));

  return {
    event(event, appendedAt) {
      const matching = (byKind.get(kindOf(event)) ?? []).filter((one) => matchesSubscription(one, event));
      for (const { eventId, subscriptionId } of decideFanOut(event, matching, appendedAt)) {
        ofRange.add(eventId);
        const knownAt = (published.get(subscriptionId) ?? Infinity) + PUBLICATION_MS;
        if (knownAt >= appendedAt) changed.add(subscriptionId);
        else expected.set(eventId, `${event.eventType} of ${event.deviceId} for subscription ${subscriptionId}`);
      }
    },
    delivery({ eventId, series }) {
      if (series !== 0) return;
      const delivery = known.get(eventId) ?? { times: 0, outcome: null };
      delivery.times += 1;
      known.set(eventId, delivery);
    },
    attempt({ eventId, series, outcome }) {
      const delivery = series === 0 ? known.get(eventId) : undefined;
      if (delivery) delivery.outcome = outcome;
    },
    unreadable: (name) => void unreadable.push(name),
    findings() {
      const found = [...ofRange].flatMap((eventId) => {
        const delivery = known.get(eventId);
        return delivery === undefined ? [] : [{ eventId, ...delivery }];
      });
      const ended = (outcome: string): number => found.filter((one) => one.outcome === outcome).length;
      const [delivered, failed] = [ended('delivered'), ended('failed')];
      return {
        expected: expected.size,
        missing: [...expected].filter(([eventId]) => !known.has(eventId)).map(([, name]) => name),
        found: found.length,
        repeated: found.filter(({ times }) => times > 1).map(({ eventId }) => eventId),
        delivered,
        failed,
        pending: found.length - delivered - failed,
        changedSubscriptions: changed.size,
        unreadable,
      };
    },
  };
}

function kindOf({ fleetId, eventType }: Pick<FleetEvent, 'fleetId' | 'eventType'>): string {
  return `${fleetId}\u001f${eventType}`;
}

function grouped(subscriptions: readonly WebhookSubscription[]): Map<string, WebhookSubscription[]> {
  const groups = new Map<string, WebhookSubscription[]>();
  for (const subscription of subscriptions) {
    const group = groups.get(kindOf(subscription)) ?? [];
    group.push(subscription);
    groups.set(kindOf(subscription), group);
  }
  return groups;
}
