import type {
  BaseOffsets,
  CommittedOffset,
  FencedWriter,
  Fetcher,
  GroupMember,
  GroupOptions,
  PartitionFeed,
  RebalanceListener,
  StreamsBackend,
  Transaction,
  TransactionalProducer,
} from '../backend/backend.js';
import { assignPartitions } from '../backend/cooperative-assignor.js';
import { MemberPartitions } from '../backend/member-partitions.js';
import { StreamsError } from '../errors.js';
import { silentLogger, type StreamsLogger } from '../logger.js';
import {
  type OutgoingRecord,
  partitionName,
  type RecordBatch,
  type RecordContent,
  StreamRecord,
  type TopicPartition,
} from '../record.js';
import { StallWatch } from '../stalls.js';

export interface MemoryBackendOptions {
  /** Topic name to number of partitions. */
  readonly topics: Readonly<Record<string, number>>;
  readonly now: () => number;
  /** Default: none. */
  readonly logger?: StreamsLogger | undefined;
}

/** One shared broker in memory: every client made from it sees the same logs, offsets and groups. */
export function createMemoryBackend(options: MemoryBackendOptions): StreamsBackend & MemoryLogs {
  return new MemoryBroker(options);
}

export interface MemoryLogs {
  /** Writes as an outside producer would. */
  append(partition: TopicPartition, record: RecordContent): number;
  /** Deletes the committed offsets of a group, as a broker does after its retention. */
  forgetOffsets(groupId: string): void;
  /** Loses the records from an offset on, as an unclean leader election does. */
  loseFrom(partition: TopicPartition, offset: number): void;
}

/** Each commit leaves a marker after its records, as in Kafka, so that positions and record offsets differ. */
type Entry = StreamRecord | 'marker';

interface MemoryMember {
  readonly topics: readonly string[];
  readonly joinsTopics: boolean;
  readonly listener: RebalanceListener;
  readonly subscriptions: MemberPartitions;
}

interface MemoryGroup {
  readonly offsets: Map<string, CommittedOffset>;
  readonly members: Map<string, MemoryMember>;
  generation: number;
}

class MemoryBroker implements StreamsBackend, MemoryLogs {
  readonly stalls: StallWatch;
  private readonly logs = new Map<string, Entry[]>();
  private readonly groups = new Map<string, MemoryGroup>();
  private readonly epochs = new Map<string, number>();
  /** By partition: where the log of each leader begins that came after the first. */
  private readonly leaders = new Map<string, number[]>();
  private readonly watchers = new Set<() => void>();
  private members = 0;

  constructor(private readonly options: MemoryBackendOptions) {
    this.stalls = new StallWatch({ logger: options.logger ?? silentLogger, now: options.now });
    for (const [topic, partitions] of Object.entries(options.topics)) {
      for (let partition = 0; partition < partitions; partition++)
        this.logs.set(partitionName({ topic, partition }), []);
    }
  }

  append(partition: TopicPartition, record: RecordContent): number {
    const log = this.log(partition);
    const { timestamp = this.options.now() } = record;
    log.push(StreamRecord.of({ ...record, offset: log.length, timestamp }));
    for (const watcher of this.watchers) watcher();
    return log.length - 1;
  }

  forgetOffsets(groupId: string): void {
    this.groups.get(groupId)?.offsets.clear();
  }

  loseFrom(partition: TopicPartition, offset: number): void {
    this.log(partition).length = offset;
    this.leaders.set(partitionName(partition), [...this.leadersOf(partition), offset]);
    for (const watcher of this.watchers) watcher();
  }

  private leadersOf(partition: TopicPartition): readonly number[] {
    return this.leaders.get(partitionName(partition)) ?? [];
  }

  fetcher(): Fetcher {
    const feeds = new Set<PartitionFeed>();
    return {
      open: (partition, position) => {
        const feed = this.feed(partition, position);
        feeds.add(feed);
        return feed;
      },
      close: () => {
        for (const feed of feeds) feed.close();
        return Promise.resolve();
      },
    };
  }

  private feed(partition: TopicPartition, start: number): PartitionFeed {
    const log = this.log(partition);
    let position = start;
    let watcher: (() => void) | null = null;
    const take = (): RecordBatch => {
      const records = log.slice(position).filter((entry): entry is StreamRecord => entry !== 'marker');
      position = log.length;
      const ends = { highWatermark: log.length, lastStableOffset: log.length };
      const leaderEpoch = this.leadersOf(partition).filter((start) => start < position).length;
      return { ...partition, records, nextOffset: position, ...ends, leaderEpoch };
    };
    const stopWatching = (): void => {
      if (watcher) this.watchers.delete(watcher);
      watcher = null;
    };
    const feed: PartitionFeed = {
      next: () => {
        if (position > log.length)
          return Promise.reject(new StreamsError('OFFSET_OUT_OF_RANGE', 'Behind the end of the log.'));
        if (position < log.length) return Promise.resolve(take());
        return new Promise((resolve) => {
          watcher = () => {
            if (position === log.length) return;
            stopWatching();
            // What comes in the place of lost records comes with their loss.
            resolve(position < log.length ? take() : Promise.resolve().then(() => feed.next()));
          };
          this.watchers.add(watcher);
        });
      },
      close: stopWatching,
    };
    return feed;
  }

  producer(transactionalId: string): TransactionalProducer {
    let epoch = -1;
    let dead = false;
    return {
      init: () => {
        epoch = (this.epochs.get(transactionalId) ?? -1) + 1;
        this.epochs.set(transactionalId, epoch);
        return Promise.resolve();
      },
      commit: (transaction) => {
        if (dead || epoch !== this.epochs.get(transactionalId)) {
          dead = true;
          return Promise.reject(
            new StreamsError('PRODUCER_FENCED', `Another producer has taken over ${transactionalId}.`),
          );
        }
        return Promise.resolve(this.write(transaction));
      },
      close: () => {
        dead = true;
        return Promise.resolve();
      },
    };
  }

  fencedWriter(transactionalId: string, partitions: readonly TopicPartition[]): FencedWriter {
    const fence = this.producer(transactionalId);
    return {
      init: async () => {
        await fence.init();
        for (const partition of partitions) this.log(partition).push('marker');
        await fence.init();
        for (const watcher of this.watchers) watcher();
      },
      append: async (records) => {
        // Rejects when fenced; an empty transaction leaves no trace.
        await fence.commit({ records: [] });
        return this.appendAll(records);
      },
      close: () => fence.close(),
    };
  }

  private appendAll(records: Iterable<OutgoingRecord>): BaseOffsets {
    const baseOffsets = new Map<string, number>();
    for (const record of records) {
      const at = this.append(record, record);
      if (!baseOffsets.has(partitionName(record))) baseOffsets.set(partitionName(record), at);
    }
    return baseOffsets;
  }

  private write({ records, offsets = [] }: Transaction): BaseOffsets {
    const baseOffsets = this.appendAll(records);
    for (const name of baseOffsets.keys()) this.logs.get(name)?.push('marker');
    for (const offset of offsets)
      this.groupState(offset.groupId).offsets.set(partitionName(offset), {
        offset: offset.offset,
        metadata: offset.metadata ?? '',
      });
    for (const watcher of this.watchers) watcher();
    return baseOffsets;
  }

  group({ groupId, topics, instanceId, joinsTopics = false }: GroupOptions): GroupMember {
    const group = this.groupState(groupId);
    const memberId = instanceId ?? `member-${String(this.members++)}`;
    const ownListener = new Set<RebalanceListener>();
    const isMember = (): boolean => {
      const member = group.members.get(memberId);
      return member !== undefined && ownListener.has(member.listener);
    };
    return {
      join: (listener) => {
        ownListener.add(listener);
        const subscriptions = new MemberPartitions();
        // A member that comes back under the same name gets the partitions of its predecessor, but not its pending
        // revocations.
        const owned = group.members.get(memberId)?.subscriptions.claim().owned;
        if (owned) subscriptions.accept(group.generation, { partitions: owned, awaited: [] });
        group.members.set(memberId, { topics, joinsTopics, listener, subscriptions });
        this.rebalance(group);
        return Promise.resolve();
      },
      leaseValid: isMember,
      confirm: (generation) => Promise.resolve(isMember() && generation === group.generation),
      committed: (partition) => Promise.resolve(group.offsets.get(partitionName(partition)) ?? null),
      commit: (partition, offset, generation = group.generation) => {
        const isCurrent = generation === group.generation || generation === -1;
        if (isCurrent) group.offsets.set(partitionName(partition), offset);
        return Promise.resolve(isCurrent);
      },
      rejoin: () => this.rebalance(group),
      leave: () => {
        if (isMember()) {
          group.members.delete(memberId);
          this.rebalance(group);
        }
        return Promise.resolve();
      },
    };
  }

  private rebalance(group: MemoryGroup): void {
    group.generation++;
    const subscribed = new Set([...group.members.values()].flatMap(({ topics }) => topics));
    const partitions = [...subscribed].flatMap((topic) =>
      Array.from({ length: this.options.topics[topic] ?? 0 }, (_, partition) => ({ topic, partition })),
    );
    const claims = [...group.members].map(([memberId, { topics, subscriptions }]) => ({
      memberId,
      topics,
      ...subscriptions.claim(),
    }));
    const { generation } = group;
    const joining = [...group.members.values()].find(({ joinsTopics }) => joinsTopics);
    const lead = joining?.topics[0];
    for (const [memberId, share] of assignPartitions(partitions, claims, lead)) {
      const member = group.members.get(memberId);
      if (!member) continue;
      const revoked = member.subscriptions.accept(generation, share);
      const closed = Promise.resolve(member.listener.assigned({ generation, partitions: share.partitions }));
      void closed
        .catch(() => undefined)
        .then(() => {
          revoked();
          if (group.members.get(memberId) === member && member.subscriptions.needsRejoin) this.rebalance(group);
        });
    }
  }

  partitionCount(topic: string): Promise<number | null> {
    return Promise.resolve(this.options.topics[topic] ?? null);
  }

  topicSettings(): Promise<ReadonlyMap<string, string>> {
    return Promise.resolve(new Map());
  }

  topicId(topic: string): Promise<string | null> {
    return Promise.resolve(topic in this.options.topics ? `id-of-${topic}` : null);
  }

  endOffset(partition: TopicPartition): Promise<number> {
    return Promise.resolve(this.log(partition).length);
  }

  startOffset(): Promise<number> {
    return Promise.resolve(0);
  }

  offsetAt(partition: TopicPartition, timestamp: number): Promise<number | null> {
    const found = this.log(partition).find((entry) => entry !== 'marker' && entry.timestamp >= timestamp);
    return Promise.resolve(found === undefined || found === 'marker' ? null : found.offset);
  }

  epochEnd(partition: TopicPartition, epoch: number): Promise<number | null> {
    const later = this.leadersOf(partition).slice(epoch);
    return Promise.resolve(Math.min(this.log(partition).length, ...later));
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  private log(partition: TopicPartition): Entry[] {
    const log = this.logs.get(partitionName(partition));
    if (!log) throw new StreamsError('TOPIC_MISSING', `There is no partition ${partitionName(partition)}.`);
    return log;
  }

  private groupState(groupId: string): MemoryGroup {
    let group = this.groups.get(groupId);
    if (!group) this.groups.set(groupId, (group = { offsets: new Map(), members: new Map(), generation: 0 }));
    return group;
  }
}
