import { type AvroCodecs, topics } from '@waypost/contracts';
import type { WebhookSubscription } from '@waypost/domain';
import { type Quarantine, VersionReader } from '@waypost/platform';
import { createGlobalTable, type GlobalTable, type StreamsBackend, type StreamsLogger } from '@waypost/streams';

/** Every subscription, read from the topic: deliveries continue while the database is down. */
export interface SubscriptionDirectory extends Pick<GlobalTable, 'start' | 'stop' | 'caughtUp'> {
  get(subscriptionId: string): WebhookSubscription | undefined;
  /**
   * Nothing is sent at present: its owner has paused it, or its only version cannot be read or has a status that only
   * a newer build knows. An older version stays in force when a newer one cannot be read.
   */
  isHeld(subscriptionId: string): boolean;
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
  readonly quarantine: Pick<Quarantine, 'put'>;
}

export function createSubscriptionDirectory(options: DirectoryOptions): SubscriptionDirectory {
  const { codecs, quarantine } = options;
  const index = createSubscriptionIndex();
  const topic = topics.webhookSubscriptions.name;
  const reader = new VersionReader(topic, codecs.webhookSubscriptions, quarantine);
  const table = createGlobalTable({
    ...{ ...options, topic, prepare: reader.prepare },
    onRecord: (key, _value, record) => {
      const version = reader.versionOf(record);
      if (version === null) index.remove(key.toString());
      else if (version) index.put(version);
      else index.putUnreadable(key.toString());
    },
  });
  return { start: () => table.start(), stop: () => table.stop(), caughtUp: () => table.caughtUp(), ...index };
}

export function createSubscriptionIndex() {
  const byId = new Map<string, WebhookSubscription>();
  const byInterest = new Map<string, Map<string, WebhookSubscription>>();
  const unreadable = new Set<string>();
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
    isHeld: (id: string): boolean => {
      const status = byId.get(id)?.status;
      return status === undefined ? unreadable.has(id) : status !== 'active' && status !== 'disabled';
    },
    candidates: (fleetId: string, eventType: string): Iterable<WebhookSubscription> =>
      byInterest.get(interestKey(fleetId, eventType))?.values() ?? [],
    putUnreadable: (id: string): void => {
      unreadable.add(id);
      notify(id);
    },
    put: (subscription: WebhookSubscription): void => {
      unreadable.delete(subscription.id);
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
      unreadable.delete(id);
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
