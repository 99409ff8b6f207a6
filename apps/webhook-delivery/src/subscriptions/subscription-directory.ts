import { type AvroCodecs, topics } from '@waypost/contracts';
import type { FleetEvent, WebhookSubscription } from '@waypost/domain';
import { type Quarantine, VersionReader } from '@waypost/platform';
import { createGlobalTable, type GlobalTable, type StreamsBackend, type StreamsLogger } from '@waypost/streams';
import { DeviceIndex } from './device-index.js';

/** The device ids are only in an index, since those of all subscriptions would not fit in memory. */
export type DirectorySubscription = Omit<WebhookSubscription, 'deviceIds' | 'description' | 'metadata'>;

type EventSource = Pick<FleetEvent, 'fleetId' | 'eventType' | 'deviceId'>;

/** Holds every subscription, read from the topic, so deliveries continue while the database is down. */
export abstract class SubscriptionDirectory implements Pick<GlobalTable, 'start' | 'stop' | 'caughtUp'> {
  abstract start(): Promise<void>;
  abstract stop(): Promise<void>;
  abstract caughtUp(): Promise<void>;
  abstract get(subscriptionId: string): DirectorySubscription | undefined;
  /**
   * Whether sending is off: the owner has paused it, or its only version cannot be read or has a status that
   * only a newer build knows. An older version stays in force if a newer one cannot be read.
   */
  abstract isPaused(subscriptionId: string): boolean;
  /** The subscriptions that get a delivery of the event: exactly those for which `matchesSubscription` holds. */
  abstract matching(event: EventSource): DirectorySubscription[];
  /** Calls the listener with the id after each change of a subscription. @returns a function that ends the calls */
  abstract onChange(listener: (subscriptionId: string) => void): () => void;
}

/** A subscription known only in a version that cannot be read is not deleted but paused. */
export function isDeleted(directory: Pick<SubscriptionDirectory, 'get' | 'isPaused'>, subscriptionId: string): boolean {
  return directory.get(subscriptionId) === undefined && !directory.isPaused(subscriptionId);
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
    ...options,
    topic,
    prepare: reader.prepare,
    onRecord: (key, _value, record) => {
      const version = reader.versionOf(record);
      if (version === null) index.remove(key.toString());
      else if (version) index.put(version);
      else index.putUnreadable(key.toString());
    },
  });
  return { start: () => table.start(), stop: () => table.stop(), caughtUp: () => table.caughtUp(), ...index };
}

const SHARDS = 256;

export function createSubscriptionIndex(shards = SHARDS) {
  const byId = new Map<string, DirectorySubscription>();
  const byEvent = new EventIndex(shards);
  const unreadable = new Set<string>();
  const listeners = new Set<(subscriptionId: string) => void>();
  const notify = (id: string): void => {
    for (const listener of listeners) listener(id);
  };
  const remove = (id: string): void => {
    const known = byId.get(id);
    if (!known) return;
    byId.delete(id);
    byEvent.remove(known);
  };
  return {
    get: (id: string) => byId.get(id),
    isPaused: (id: string): boolean => {
      const status = byId.get(id)?.status;
      return status === undefined ? unreadable.has(id) : status !== 'active' && status !== 'disabled';
    },
    matching: (event: EventSource): DirectorySubscription[] => byEvent.matching(event),
    putUnreadable: (id: string): void => {
      unreadable.add(id);
      notify(id);
    },
    put: ({ deviceIds, description, metadata, ...subscription }: WebhookSubscription): void => {
      const { id } = subscription;
      unreadable.delete(id);
      const known = byId.get(id);
      // The outbox may publish a version again after a crash; an older version never replaces a newer one.
      if (known && known.version > subscription.version) return;
      remove(id);
      byId.set(id, subscription);
      byEvent.add(subscription, deviceIds);
      notify(id);
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

interface Group {
  readonly number: number;
  readonly ofEveryDevice: Map<string, DirectorySubscription>;
}

class EventIndex {
  private readonly groups = new Map<string, Group>();
  private readonly ofDevices: DeviceIndex<DirectorySubscription>;
  /** Numbers in `ofDevices`, by subscription id. */
  private readonly numbers = new Map<string, number>();

  constructor(shards: number) {
    this.ofDevices = new DeviceIndex(shards);
  }

  add(subscription: DirectorySubscription, deviceIds: readonly string[] | null): void {
    const { groups } = this;
    const key = groupKey(subscription);
    const group = groups.get(key) ?? { number: groups.size, ofEveryDevice: new Map<string, DirectorySubscription>() };
    groups.set(key, group);
    if (deviceIds === null) group.ofEveryDevice.set(subscription.id, subscription);
    else this.numbers.set(subscription.id, this.ofDevices.add(group.number, deviceIds, subscription));
  }

  remove(subscription: DirectorySubscription): void {
    const { id } = subscription;
    this.groups.get(groupKey(subscription))?.ofEveryDevice.delete(id);
    const number = this.numbers.get(id);
    if (number !== undefined) this.ofDevices.remove(number);
    this.numbers.delete(id);
  }

  matching(event: EventSource): DirectorySubscription[] {
    const group = this.groups.get(groupKey(event));
    if (group === undefined) return [];
    const found = [...group.ofEveryDevice.values(), ...this.ofDevices.find(group.number, event.deviceId)];
    return found.filter(({ status }) => status !== 'disabled');
  }
}

function groupKey({ fleetId, eventType }: Omit<EventSource, 'deviceId'>): string {
  return `${fleetId}\u001f${eventType}`;
}
