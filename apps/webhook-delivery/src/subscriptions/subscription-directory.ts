import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { type AvroCodecs, topics } from '@waypost/contracts';
import type { FleetEvent, WebhookSubscription } from '@waypost/domain';
import { CODECS, LOGGER, ON_FATAL, Quarantine, STOPPING, STREAMS_BACKEND, VersionReader } from '@waypost/platform';
import { createGlobalTable, type GlobalTable, type StreamsBackend, type StreamsLogger } from '@waypost/streams';
import { settleOrAbort } from '@waypost/streams/admin';
import { DeviceIndex } from './device-index.js';

/** The device ids are only in an index, since those of all subscriptions would not fit in memory. */
export type DirectorySubscription = Omit<WebhookSubscription, 'deviceIds' | 'description' | 'metadata'>;

type EventSource = Pick<FleetEvent, 'fleetId' | 'eventType' | 'deviceId'>;

/**
 * Holds every subscription, read from the topic, so deliveries continue while the database is down. It is read to
 * its end before the consumers start, and followed until all of them have stopped.
 */
@Injectable()
export class SubscriptionDirectory implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly index = createSubscriptionIndex();
  private readonly table: GlobalTable;

  readonly get = this.index.get;
  /**
   * Whether sending is off: the owner has paused it, or its only version cannot be read or has a status that
   * only a newer build knows. An older version stays in force if a newer one cannot be read.
   */
  readonly isPaused = this.index.isPaused;
  /** The subscriptions that get a delivery of the event: exactly those for which `matchesSubscription` holds. */
  readonly matching = this.index.matching;
  /** Calls the listener with the id after each change of a subscription. @returns a function that ends the calls */
  readonly onChange = this.index.onChange;

  constructor(
    @Inject(STREAMS_BACKEND) backend: StreamsBackend,
    @Inject(CODECS) codecs: AvroCodecs,
    @Inject(LOGGER) logger: StreamsLogger,
    @Inject(ON_FATAL) onFatal: (error: Error) => void,
    quarantine: Quarantine,
    @Inject(STOPPING) private readonly stopping: AbortSignal,
  ) {
    const { index } = this;
    const topic = topics.webhookSubscriptions.name;
    const reader = new VersionReader(topic, codecs.webhookSubscriptions, quarantine);
    this.table = createGlobalTable({
      backend,
      logger,
      onFatal,
      topic,
      prepare: reader.prepare,
      onRecord: (key, _value, record) => {
        const version = reader.versionOf(record);
        if (version === null) index.remove(key.toString());
        else if (version) index.put(version);
        else index.putUnreadable(key.toString());
      },
    });
  }

  async onApplicationBootstrap(): Promise<void> {
    await settleOrAbort(this.table.start(), this.stopping);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.table.stop();
  }

  caughtUp(): Promise<void> {
    return this.table.caughtUp();
  }
}

/** A subscription known only in a version that cannot be read is not deleted but paused. */
export function isDeleted(directory: Pick<SubscriptionDirectory, 'get' | 'isPaused'>, subscriptionId: string): boolean {
  return directory.get(subscriptionId) === undefined && !directory.isPaused(subscriptionId);
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
