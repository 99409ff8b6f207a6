import { type AvroCodecs, resolveBatch, topics } from '@waypost/contracts';
import type { WebhookSubscription } from '@waypost/domain';
import { createGlobalTable, type GlobalTable, type StreamsBackend, type StreamsLogger } from '@waypost/streams';
import { readOwnRecord } from '../common/read-own-record.js';

/** Every subscription, read from the topic: deliveries continue while the database is down. */
export interface SubscriptionDirectory extends Pick<GlobalTable, 'start' | 'stop' | 'caughtUp'> {
  get(subscriptionId: string): WebhookSubscription | undefined;
  /** The subscriptions of a fleet for one event type, of any status. */
  candidates(fleetId: string, eventType: string): Iterable<WebhookSubscription>;
  /** Called with the id after each change of a subscription. @returns a function that ends the calls */
  onChange(listener: (subscriptionId: string) => void): () => void;
}

export interface DirectoryOptions {
  readonly backend: StreamsBackend;
  readonly codecs: AvroCodecs;
  readonly logger: StreamsLogger;
  readonly onFatal: (error: Error) => void;
}

export function createSubscriptionDirectory(options: DirectoryOptions): SubscriptionDirectory {
  const { codecs } = options;
  const index = createSubscriptionIndex();
  const table = createGlobalTable({
    ...options,
    topic: topics.webhookSubscriptions.name,
    prepare: (records) => resolveBatch(codecs.webhookSubscriptions, records),
    onRecord: (key, value) => {
      if (value === null) index.remove(key.toString());
      else index.put(readOwnRecord(topics.webhookSubscriptions.name, codecs.webhookSubscriptions, value));
    },
  });
  return { start: () => table.start(), stop: () => table.stop(), caughtUp: () => table.caughtUp(), ...index };
}

export function createSubscriptionIndex() {
  const byId = new Map<string, WebhookSubscription>();
  const byInterest = new Map<string, Map<string, WebhookSubscription>>();
  const listeners = new Set<(subscriptionId: string) => void>();
  const notify = (id: string): void => {
    for (const listener of listeners) listener(id);
  };
  const interestKey = (fleetId: string, eventType: string): string => `${fleetId}\u001f${eventType}`;
  const remove = (id: string): void => {
    const known = byId.get(id);
    if (!known) return;
    byId.delete(id);
    byInterest.get(interestKey(known.fleetId, known.eventType))?.delete(id);
  };
  return {
    get: (id: string) => byId.get(id),
    candidates: (fleetId: string, eventType: string): Iterable<WebhookSubscription> =>
      byInterest.get(interestKey(fleetId, eventType))?.values() ?? [],
    put: (subscription: WebhookSubscription): void => {
      const known = byId.get(subscription.id);
      // The outbox may publish a version again after a crash; an older version never replaces a newer one.
      if (known && known.version > subscription.version) return;
      remove(subscription.id);
      byId.set(subscription.id, subscription);
      const interest = interestKey(subscription.fleetId, subscription.eventType);
      let group = byInterest.get(interest);
      if (!group) byInterest.set(interest, (group = new Map<string, WebhookSubscription>()));
      group.set(subscription.id, subscription);
      notify(subscription.id);
    },
    remove: (id: string): void => {
      remove(id);
      notify(id);
    },
    onChange: (listener: (subscriptionId: string) => void) => {
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
      };
    },
  };
}
