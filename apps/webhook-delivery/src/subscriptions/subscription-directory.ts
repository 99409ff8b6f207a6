import { resolveBatch, topics, type AvroCodecs } from '@waypost/contracts';
import type { WebhookSubscription } from '@waypost/domain';
import {
  createGlobalTable,
  StreamsError,
  type GlobalTable,
  type StreamsBackend,
  type StreamsLogger,
} from '@waypost/streams';

/** Every subscription as the topic has it; the database is not asked, so deliveries go on while it is away. */
export interface SubscriptionDirectory extends Pick<GlobalTable, 'start' | 'stop' | 'caughtUp'> {
  get(subscriptionId: string): WebhookSubscription | undefined;
  /** Those of a fleet for one event type, whatever their status. */
  candidates(fleetId: string, eventType: string): Iterable<WebhookSubscription>;
}

export interface DirectoryOptions {
  readonly backend: StreamsBackend;
  readonly codecs: AvroCodecs;
  readonly logger: StreamsLogger;
  readonly onFatal: (error: Error) => void;
}

export const createSubscriptionDirectory = (options: DirectoryOptions): SubscriptionDirectory => {
  const { codecs } = options;
  const index = createSubscriptionIndex();
  const table = createGlobalTable({
    ...options,
    topic: topics.webhookSubscriptions.name,
    prepare: (records) => resolveBatch(codecs.webhookSubscriptions, records),
    onRecord: (key, value) => {
      if (value === null) index.remove(key.toString());
      else index.put(readSubscription(codecs, value));
    },
  });
  return { start: () => table.start(), stop: () => table.stop(), caughtUp: () => table.caughtUp(), ...index };
};

const readSubscription = (codecs: AvroCodecs, value: Buffer): WebhookSubscription => {
  const decoded = codecs.webhookSubscriptions.decode(value);
  if (decoded.type === 'decoded') return decoded.value;
  throw new StreamsError(
    'CORRUPT_STATE',
    `A subscription in ${topics.webhookSubscriptions.name} cannot be read: ${decoded.type}.`,
  );
};

export const createSubscriptionIndex = () => {
  const byId = new Map<string, WebhookSubscription>();
  const byInterest = new Map<string, Map<string, WebhookSubscription>>();
  const interest = (fleetId: string, eventType: string): string => `${fleetId}\u001f${eventType}`;
  const remove = (id: string): void => {
    const known = byId.get(id);
    if (!known) return;
    byId.delete(id);
    byInterest.get(interest(known.fleetId, known.eventType))?.delete(id);
  };
  return {
    get: (id: string) => byId.get(id),
    candidates: (fleetId: string, eventType: string): Iterable<WebhookSubscription> =>
      byInterest.get(interest(fleetId, eventType))?.values() ?? [],
    put: (subscription: WebhookSubscription): void => {
      const known = byId.get(subscription.id);
      // The outbox may publish a version again after a crash; an older one never replaces a newer.
      if (known && known.version > subscription.version) return;
      remove(subscription.id);
      byId.set(subscription.id, subscription);
      const name = interest(subscription.fleetId, subscription.eventType);
      let group = byInterest.get(name);
      if (!group) byInterest.set(name, (group = new Map<string, WebhookSubscription>()));
      group.set(subscription.id, subscription);
    },
    remove,
  };
};
