import {
  decideFanOut,
  type DeliveryStatus,
  deliveryStatus,
  type FleetEvent,
  matchesSubscription,
  type WebhookAttempt,
  type WebhookDelivery,
  type WebhookSubscription,
} from '@waypost/domain';

/** What a subscription got, and might have got, that its newest record says nothing about. */
export interface Unjudged {
  readonly subscriptionId: string;
  /** changed: after the events; gone: it is not in the topic any more. */
  readonly because: 'changed' | 'gone';
  readonly found: number;
}

/** Since when the logs have every record of a subscription, epoch milliseconds; -Infinity: they have lost none. */
export interface KeptSince {
  readonly deliveries: (subscriptionId: string) => number;
  readonly attempts: (subscriptionId: string) => number;
}

export interface DeliveryFindings {
  /** Deliveries that the subscriptions of today, unchanged since before the event, must have got and that can be judged. */
  readonly expected: number;
  readonly missing: readonly string[];
  /** How many of the expected ones were found. */
  readonly found: number;
  readonly repeated: readonly string[];
  readonly delivered: number;
  /** Expired ones too. */
  readonly failed: number;
  /** Between two attempts, or before the first. */
  readonly pending: number;
  /** In the order in which the logs show the subscriptions; `found` does not count these deliveries. */
  readonly unjudged: readonly Unjudged[];
  /** Not found, of events that are older than what the log of deliveries still has. */
  readonly beforeDeliveries: number;
  /** Found without an attempt, of events that are older than what the log of attempts still has. */
  readonly beforeAttempts: number;
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

const ALL_KEPT: KeptSince = { deliveries: () => -Infinity, attempts: () => -Infinity };

interface Expected {
  readonly name: string;
  readonly subscriptionId: string;
  readonly appendedAt: number;
}

interface Known {
  readonly subscriptionId: string;
  times: number;
  outcome: string | null;
}

/** Follows events to their deliveries and final outcomes; first series only, since replays are requested. */
export interface DeliveryLedger {
  /** @param appendedAt broker time of the event's record, epoch milliseconds */
  event(event: FleetEvent, appendedAt: number): void;
  delivery(delivery: Pick<WebhookDelivery, 'eventId' | 'series' | 'subscriptionId' | 'createdAt'>): void;
  attempt(attempt: Pick<WebhookAttempt, 'eventId' | 'series' | 'outcome'>): void;
  unreadable(name: string): void;
  findings(kept?: KeptSince): DeliveryFindings;
}

/** @param to the end of the range, epoch milliseconds: deliveries of gone subscriptions count up to it */
export function createDeliveryLedger(
  subscriptions: readonly PublishedSubscription[],
  to: number | null = null,
): DeliveryLedger {
  const expected = new Map<string, Expected>();
  /** What is known, by eventId, which is one of event and subscription. */
  const known = new Map<string, Known>();
  /** Ids of events that subscriptions may have got when they were something else, by subscription. */
  const changed = new Map<string, Set<string>>();
  const unreadable: string[] = [];
  const byKind = groupByKind(subscriptions.map(({ subscription }) => subscription));
  const published = new Map(subscriptions.map(({ subscription, publishedAt }) => [subscription.id, publishedAt]));

  return {
    event(event, appendedAt) {
      const matching = (byKind.get(kindOf(event)) ?? []).filter((one) => matchesSubscription(one, event));
      for (const { eventId, subscriptionId } of decideFanOut(event, matching, appendedAt)) {
        const knownAt = (published.get(subscriptionId) ?? Infinity) + PUBLICATION_MS;
        if (knownAt >= appendedAt) {
          changed.set(subscriptionId, (changed.get(subscriptionId) ?? new Set()).add(eventId));
          continue;
        }
        const name = `${event.eventType} of ${event.deviceId} for subscription ${subscriptionId}`;
        expected.set(eventId, { name, subscriptionId, appendedAt });
      }
    },
    delivery({ eventId, series, subscriptionId, createdAt }) {
      const isGone = !published.has(subscriptionId);
      if (series !== 0 || (isGone && to !== null && createdAt >= to)) return;
      const delivery = known.get(eventId) ?? { subscriptionId, times: 0, outcome: null };
      delivery.times += 1;
      known.set(eventId, delivery);
    },
    attempt({ eventId, series, outcome }) {
      const delivery = series === 0 ? known.get(eventId) : undefined;
      if (delivery) delivery.outcome = outcome;
    },
    unreadable: (name) => void unreadable.push(name),
    findings(kept = ALL_KEPT) {
      const { judged, ...before } = sortOut(expected, known, kept);
      const found = foundOf([...judged.keys()], known);
      const all = [expected.keys(), ...changed.values()].flatMap((eventIds) => foundOf([...eventIds], known));
      const count = (status: DeliveryStatus): number => found.filter((one) => statusOf(one) === status).length;
      return {
        expected: judged.size,
        missing: [...judged].filter(([eventId]) => !known.has(eventId)).map(([, { name }]) => name),
        found: found.length,
        repeated: all.filter(({ times }) => times > 1).map(({ eventId }) => eventId),
        delivered: count('delivered'),
        failed: count('failed'),
        pending: count('pending'),
        unjudged: [
          ...[...changed].map(([subscriptionId, eventIds]): Unjudged => {
            return { subscriptionId, because: 'changed', found: foundOf([...eventIds], known).length };
          }),
          ...goneOf(known, published),
        ],
        ...before,
        unreadable,
      };
    },
  };
}

/** Deliveries and attempts come after their event: a log that is kept since before it has all of them. */
function sortOut(expected: ReadonlyMap<string, Expected>, known: ReadonlyMap<string, Known>, kept: KeptSince) {
  const judged = new Map<string, Expected>();
  let beforeDeliveries = 0;
  let beforeAttempts = 0;
  for (const [eventId, one] of expected) {
    const isBefore = (since: number): boolean => one.appendedAt <= since + PUBLICATION_MS;
    const delivery = known.get(eventId);
    if (delivery === undefined && isBefore(kept.deliveries(one.subscriptionId))) beforeDeliveries += 1;
    else if (delivery?.outcome === null && isBefore(kept.attempts(one.subscriptionId))) beforeAttempts += 1;
    else judged.set(eventId, one);
  }
  return { judged, beforeDeliveries, beforeAttempts };
}

function statusOf({ outcome }: Pick<Known, 'outcome'>): DeliveryStatus {
  return outcome === null ? 'pending' : deliveryStatus(outcome);
}

function foundOf(eventIds: readonly string[], known: ReadonlyMap<string, Known>) {
  return eventIds.flatMap((eventId) => {
    const delivery = known.get(eventId);
    return delivery === undefined ? [] : [{ eventId, ...delivery }];
  });
}

function goneOf(known: ReadonlyMap<string, Known>, published: ReadonlyMap<string, number>): Unjudged[] {
  const counts = new Map<string, number>();
  for (const { subscriptionId } of known.values()) {
    if (!published.has(subscriptionId)) counts.set(subscriptionId, (counts.get(subscriptionId) ?? 0) + 1);
  }
  return [...counts].map(([subscriptionId, found]) => ({ subscriptionId, because: 'gone', found }));
}

function kindOf({ fleetId, eventType }: Pick<FleetEvent, 'fleetId' | 'eventType'>): string {
  return `${fleetId}\u001f${eventType}`;
}

function groupByKind(subscriptions: readonly WebhookSubscription[]): Map<string, WebhookSubscription[]> {
  const groups = new Map<string, WebhookSubscription[]>();
  for (const subscription of subscriptions) {
    const group = groups.get(kindOf(subscription)) ?? [];
    group.push(subscription);
    groups.set(kindOf(subscription), group);
  }
  return groups;
}
