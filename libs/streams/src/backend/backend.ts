import type { FetchSizes } from '../protocol/fetch.js';
import type { OutgoingRecord, RecordBatch, TopicPartition } from '../record.js';
import type { StallWatch } from '../stalls.js';

/** Batches of one partition, in order. */
export interface PartitionFeed {
  /** Resolves with the next batch that moves the position. Rejects when the position is out of the log's range. */
  next(): Promise<RecordBatch>;
  close(): void;
}

/** Reads committed records of many partitions, one batch ahead of each reader. */
export interface Fetcher {
  open(partition: TopicPartition, position: number): PartitionFeed;
  close(): Promise<void>;
}

export interface CommittedOffset {
  readonly offset: number;
  readonly metadata: string;
}

export interface TransactionOffset extends TopicPartition {
  readonly groupId: string;
  readonly offset: number;
  readonly metadata?: string | undefined;
}

export interface Transaction {
  /** Buffers must not change until the commit has ended. */
  readonly records: Iterable<OutgoingRecord>;
  /** Offsets of one group only. */
  readonly offsets?: readonly TransactionOffset[] | undefined;
}

/** Offset of the first record written to each partition, by `partitionName`. */
export type BaseOffsets = ReadonlyMap<string, number>;

/**
 * The only writer under its transactional.id. A transaction is one call, and calls must not overlap: all or nothing. If
 * a broker refuses a part of it, the call rejects with the refusal, everything is aborted, and the producer goes on. The
 * same holds for BROKER_UNAVAILABLE, but a leader that takes no records takes no markers: other transactions of the
 * producer may have to wait for it. After PRODUCER_FENCED, PRODUCER_FAILED or anything unknown it is unusable: close it,
 * create another, and read from the broker what was committed.
 */
export interface TransactionalProducer {
  /** Fences the predecessor and waits until its open transaction has ended, so that offsets read afterwards are final. */
  init(): Promise<void>;
  commit(transaction: Transaction): Promise<BaseOffsets>;
  close(): Promise<void>;
}

/**
 * The only writer of its partitions, without transactions: an append is one request, and readers see it at once. The
 * broker refuses late appends of a predecessor. After any rejection the writer is unusable: close it, create another,
 * and read from the log what was written.
 */
export interface FencedWriter {
  /** Fences the predecessor in all partitions: from then on the ends of the log change only by our own appends. */
  init(): Promise<void>;
  /**
   * Appends to each partition in order, the records of one partition up to `MAX_BATCH_BYTES` atomically; not atomic
   * across partitions. Calls must not overlap. Retries for about a minute while a broker is unavailable.
   */
  append(records: Iterable<OutgoingRecord>): Promise<BaseOffsets>;
  close(): Promise<void>;
}

export interface Assignment {
  readonly generation: number;
  readonly partitions: readonly TopicPartition[];
}

export interface RebalanceListener {
  /**
   * Called synchronously with each new assignment. The group gives this member's previous partitions to no other until
   * the promise resolves: then every partition that is not in the assignment must be released, earlier revocations
   * included. It must resolve in bounded time, because these partitions are not processed until then. No promise:
   * everything was released at once.
   */
  assigned(assignment: Assignment): Promise<void> | void;
  /** The group cannot continue with this member; the process should end. */
  failed(error: Error): void;
}

/** The membership of this process in a consumer group. It reads and writes offsets, not records. */
export interface GroupMember {
  join(listener: RebalanceListener): Promise<void>;
  /** Whether the last accepted heartbeat is so recent that the group cannot have reassigned our partitions. */
  leaseValid(): boolean;
  /** Resolves with true once this generation accepted a heartbeat sent after the call; false when it is over. */
  confirm(generation: number): Promise<boolean>;
  /** @param options `stable`: waits while a transaction has a position that is not visible yet, even if it was committed */
  committed(partition: TopicPartition, options?: { readonly stable: boolean }): Promise<CommittedOffset | null>;
  /**
   * Commits plainly, as a member in this generation; default: that of the last join; -1: not as a member, which an
   * empty group allows.
   * @returns false: the generation is over, and nothing was committed
   */
  commit(partition: TopicPartition, offset: CommittedOffset, generation?: number): Promise<boolean>;
  /** Joins again, so that the group assigns new partitions. */
  rejoin(): void;
  leave(): Promise<void>;
}

export interface GroupOptions {
  readonly groupId: string;
  readonly topics: readonly string[];
  /** Kafka's static membership: a restarted instance gets its partitions back at once. */
  readonly instanceId?: string | undefined;
  readonly sessionTimeoutMs?: number | undefined;
  /** Partitions of one number go to one member, whatever their topic. Otherwise each goes where there is room. */
  readonly joinsTopics?: boolean | undefined;
  /** As many partitions of a topic are assigned at least, and more once there are more: a broker may not know all yet. */
  readonly partitionCounts?: ReadonlyMap<string, number> | undefined;
}

/** The port to Kafka. Both implementations pass the suite in backend.contract.ts. */
export interface StreamsBackend {
  group(options: GroupOptions): GroupMember;
  /** @param sizes of its requests; a single larger batch is still read */
  fetcher(sizes?: FetchSizes): Fetcher;
  producer(transactionalId: string): TransactionalProducer;
  /** `transactionalId` must be used for nothing else, and always with the same partitions. */
  fencedWriter(transactionalId: string, partitions: readonly TopicPartition[]): FencedWriter;
  /** null: no such topic. `fresh`: bypasses the cache. */
  partitionCount(topic: string, options?: { readonly fresh: boolean }): Promise<number | null>;
  /** Includes broker defaults and the `replication.factor`; null: this user may not read them. */
  topicSettings(topic: string): Promise<ReadonlyMap<string, string> | null>;
  /** Differs from that of another topic of the same name; null: the cluster has no topic ids. */
  topicId(topic: string): Promise<string | null>;
  /** Includes uncommitted records. */
  endOffset(partition: TopicPartition): Promise<number>;
  startOffset(partition: TopicPartition): Promise<number>;
  /**
   * Where the part of a log ends that was written up to a leader epoch; null: unknown.
   * @param reached a later epoch that the log is known to have: a former leader that is cut off must not answer
   */
  epochEnd(partition: TopicPartition, epoch: number, reached?: number): Promise<number | null>;
  /** Stalled work of this backend, e.g. because of another producer's open transaction. */
  readonly stalls: StallWatch;
  /** Offset of the first record at or after a time; null: there is none. */
  offsetAt(partition: TopicPartition, timestamp: number): Promise<number | null>;
  close(): Promise<void>;
}
