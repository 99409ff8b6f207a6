import { setTimeout as sleep } from 'node:timers/promises';
import { errorMessage, toError } from '../../errors.js';
import type { StreamsLogger } from '../../logger.js';
import { type FetchedPartition, type FetchLimits, fetchRequest, type FetchSizes } from '../../protocol/fetch.js';
import { partitionName, type RecordBatch, type TopicPartition } from '../../record.js';
import type { StallWatch } from '../../stalls.js';
import type { Fetcher, PartitionFeed } from '../backend.js';
import { type FetchedBatch, fetchedBatch } from './fetched-batch.js';
import { isTransient, type KafkaClient } from './kafka-client.js';
import { isRepeatable, kafkaError, kafkaErrorCode, NO_ERROR, OFFSET_OUT_OF_RANGE, refusal } from './kafka-errors.js';
import type { KafkajsBroker } from './kafkajs/kafkajs-patches.js';
import { EARLIEST, LATEST, OffsetLookups } from './offset-lookups.js';

const DEFAULT_LIMITS: FetchLimits = {
  maxWaitMs: 250,
  maxBytes: 8 * 1024 * 1024,
  maxBytesPerPartition: 2 * 1024 * 1024,
};

const ERROR_WAIT_MS = 200;
const WAIT_BESIDE_OTHERS_MS = 10;
/** About a second and half a minute, including the waits: brokers refuse a lot while they start. */
const REFUSED_AT_MOST = 5;
const REPEATED_AT_MOST = 150;

/** A leader that is cut off from its cluster goes unnoticed this long: it answers as if no more records came. */
const METADATA_MAX_AGE_MS = 60_000;
const OTHER_BROKER_MS = 1_000;

/** A batch of at least this size was not the end of the log. */
const BACKLOG_BYTES = 128 * 1024;

interface KafkaFetcherOptions {
  readonly client: KafkaClient;
  readonly logger: StreamsLogger;
  readonly stalls: StallWatch;
  readonly sizes?: FetchSizes | undefined;
}

class KafkaPartitionFeed implements PartitionFeed {
  private ready: RecordBatch | null = null;
  private failure: Error | null = null;
  private waiting: { resolve(batch: RecordBatch): void; reject(error: Error): void } | null = null;
  open = true;
  /** Prevents concurrent fetches even if the leader changes: both would return the same records. */
  fetching = false;
  /** The error code between a refusal and the next attempt; the leader's other partitions do not wait. */
  refusedWith = NO_ERROR;
  /** In the last response, earlier partitions left no room for the next batch, or it exceeds the limits. */
  passedOver = false;
  /** Whether this was the first partition of the last request. */
  isFirst = false;
  refusals = 0;
  private isBehind = false;
  private goesOn: (() => void) | null = null;
  readonly name: string;

  constructor(
    readonly partition: TopicPartition,
    public position: number,
    private readonly on: { readonly wanted: () => void; readonly closed: () => void },
    private readonly stalls: StallWatch,
  ) {
    this.name = partitionName(partition);
  }

  get wanted(): boolean {
    if (!this.open || this.fetching || this.refusedWith !== NO_ERROR) return false;
    if (this.ready !== null || this.failure !== null) return false;
    return this.waiting !== null || this.isBehind;
  }

  next(): Promise<RecordBatch> {
    if (this.failure) return Promise.reject(this.failure);
    const batch = this.ready;
    if (batch) {
      this.ready = null;
      this.on.wanted();
      return Promise.resolve(batch);
    }
    return new Promise((resolve, reject) => {
      this.waiting = { resolve, reject };
      this.on.wanted();
    });
  }

  /** The log continues after the position, but nothing arrives. Partitions with the same `name` stall as one. */
  blocked(cause: string, name = this.name): void {
    // Without a reader, a stall would never end.
    if (!this.open) return;
    this.goesOn ??= this.stalls.begin('read', name, cause);
  }

  unblocked(): void {
    this.goesOn?.();
    this.goesOn = null;
  }

  refused(errorCode: number): void {
    this.refusals++;
    this.blocked(`Its leader refuses with ${kafkaError(errorCode).name}.`);
    if (this.refusals >= refusalsAtMost(errorCode)) this.failRefused(errorCode);
  }

  failRefused(errorCode: number, fix?: string): void {
    this.fail(refusal(`Reading ${this.name} at ${String(this.position)}`, errorCode, undefined, fix));
  }

  deliver(batch: FetchedBatch): void {
    this.unblocked();
    this.position = batch.nextOffset;
    this.isBehind = batch.data.length >= BACKLOG_BYTES;
    const { waiting } = this;
    this.waiting = null;
    if (waiting) waiting.resolve(batch);
    else this.ready = batch;
  }

  fail(error: Error): void {
    this.unblocked();
    this.failure = error;
    this.waiting?.reject(error);
    this.waiting = null;
  }

  close(): void {
    if (!this.open) return;
    this.open = false;
    this.unblocked();
    this.on.closed();
  }
}

/**
 * One loop that fetches all waiting partitions from each leader. With a backlog, the next batch of a partition is
 * fetched while one is processed, so memory holds two. Without one it is fetched on demand: fetched earlier it would
 * hold only the first new record, and the others would wait for another round.
 */
export class KafkaFetcher implements Fetcher {
  private readonly feeds = new Map<string, KafkaPartitionFeed>();
  /** Partitions for the next request, by leader; an entry exists while a leader is being asked. */
  private readonly queues = new Map<number, Set<KafkaPartitionFeed>>();
  private closed = false;
  private readonly limits: FetchLimits;
  private readonly client: KafkaClient;
  private readonly offsets: OffsetLookups;
  private readonly renewal: NodeJS.Timeout;

  constructor(private readonly options: KafkaFetcherOptions) {
    this.limits = { ...DEFAULT_LIMITS, ...options.sizes };
    this.client = options.client;
    this.offsets = new OffsetLookups(options.client);
    this.renewal = setInterval(() => void this.renewMetadata(), METADATA_MAX_AGE_MS).unref();
  }

  open(partition: TopicPartition, position: number): PartitionFeed {
    const wanted = (): void => this.route(feed);
    const closed = (): void => {
      if (this.feeds.get(feed.name) === feed) this.feeds.delete(feed.name);
    };
    const feed = new KafkaPartitionFeed(partition, position, { wanted, closed }, this.options.stalls);
    this.feeds.get(feed.name)?.close();
    this.feeds.set(feed.name, feed);
    return feed;
  }

  async close(): Promise<void> {
    this.closed = true;
    clearInterval(this.renewal);
    for (const feed of this.feeds.values()) feed.close();
    await this.client.close();
  }

  private route(feed: KafkaPartitionFeed): void {
    if (this.closed || !feed.wanted) return;
    const leader = this.client.connectedLeader(feed.partition.topic, feed.partition.partition);
    if (!leader || leader.nodeId === null) {
      const { topic, partition } = feed.partition;
      void this.occupied([feed], () => this.client.leader(topic, partition)).then(() => this.route(feed));
      return;
    }
    const { nodeId } = leader;
    const queue = this.queues.get(nodeId);
    if (queue) {
      queue.add(feed);
      return;
    }
    // Only one fetch per leader at a time: the broker handles the requests of a connection in order.
    const next = new Set([feed]);
    this.queues.set(nodeId, next);
    // Deferred so that the request includes all partitions that want more now.
    queueMicrotask(() => void this.fetchQueued(leader, nodeId, next));
  }

  private async fetchQueued(leader: KafkajsBroker, nodeId: number, queue: Set<KafkaPartitionFeed>): Promise<void> {
    const feeds = [...queue].filter(({ wanted }) => wanted);
    queue.clear();
    for (const [index, feed] of feeds.entries()) feed.isFirst = index === 0;
    if (feeds.length > 0) await this.occupied(feeds, () => this.fetch(leader, feeds));
    this.queues.delete(nodeId);
    // A broker fills its response in request order: with a backlog, the first partitions would always fill it. A batch
    // larger than the limits comes only as the first one.
    const [passedOver, served] = [feeds.filter((feed) => feed.passedOver), feeds.filter((feed) => !feed.passedOver)];
    for (const feed of [...passedOver, ...queue, ...served]) this.route(feed);
  }

  /** After a failure the partitions are asked for again a little later; those of other leaders do not wait for that. */
  private async occupied(feeds: readonly KafkaPartitionFeed[], work: () => Promise<unknown>): Promise<void> {
    for (const feed of feeds) feed.fetching = true;
    await work().catch((error: unknown) => this.recover(error, feeds));
    for (const feed of feeds) feed.fetching = false;
  }

  private async fetch(leader: KafkajsBroker, feeds: readonly KafkaPartitionFeed[]): Promise<void> {
    const positions = feeds.map((feed) => ({ ...feed.partition, offset: feed.position }));
    const { partitions } = await this.client.callRaw(leader, fetchRequest(positions, this.limitsNow()));
    const byName = new Map(feeds.map((feed) => [feed.name, feed]));
    // Without a wait: a reader that releases its batch must find those of the others held.
    for (const fetched of partitions) {
      const feed = byName.get(partitionName(fetched));
      if (feed?.open) take(feed, fetched);
    }
    const refused = feeds.filter(({ refusedWith }) => refusedWith !== NO_ERROR);
    if (refused.length > 0) void this.retryRefused(refused);
  }

  /** A partition that wants more must not wait behind the long poll of partitions without records. */
  private limitsNow(): FetchLimits {
    const { limits } = this;
    for (const { fetching } of this.feeds.values())
      if (!fetching) return { ...limits, maxWaitMs: Math.min(limits.maxWaitMs, WAIT_BESIDE_OTHERS_MS) };
    return limits;
  }

  private async retryRefused(refused: readonly KafkaPartitionFeed[]): Promise<void> {
    const codes = refused.map(({ refusedWith }) => refusedWith);
    this.options.logger.debug('fetch_refused', { partitions: refused.map(({ name }) => name), codes });
    await sleep(ERROR_WAIT_MS);
    const reactions = codes.map((code) => kafkaError(code).reaction);
    if (reactions.includes('refresh') || reactions.includes('unsure')) await this.refreshMetadata();
    for (const feed of refused) {
      const isOver = feed.refusedWith === OFFSET_OUT_OF_RANGE ? this.locate(feed) : Promise.resolve();
      void isOver.then(() => {
        feed.refusedWith = NO_ERROR;
        this.route(feed);
      });
    }
  }

  /**
   * The code is the same for a position before the start and beyond the end of the log. Deleted records do not come
   * back, but a former leader may have a shorter log and not know its successor yet.
   */
  private async locate(feed: KafkaPartitionFeed): Promise<void> {
    const { partition, position } = feed;
    await this.renewMetadata();
    try {
      const find = async (of: number): Promise<number> => (await this.offsets.find(partition, of)) ?? 0;
      const [start, end] = await Promise.all([find(EARLIEST), find(LATEST)]);
      if (position < start) feed.failRefused(OFFSET_OUT_OF_RANGE);
      else if (position > end && feed.refusals >= REFUSED_AT_MOST) feed.failRefused(OFFSET_OUT_OF_RANGE, tooShort(end));
    } catch (error) {
      this.options.logger.debug('fetch_failed', { error: errorMessage(error) });
    }
  }

  private async recover(error: unknown, feeds: readonly KafkaPartitionFeed[]): Promise<void> {
    if (this.closed) return;
    const code = kafkaErrorCode(error);
    for (const feed of feeds) {
      feed.blocked('A leader cannot be reached.', feed.partition.topic);
      if (code !== null) feed.refused(code);
    }
    this.options.logger.debug('fetch_failed', { error: errorMessage(error) });
    await sleep(ERROR_WAIT_MS);
    if (!isTransient(error)) this.options.logger.warn('fetch_failed', { error: errorMessage(error) });
    await this.refreshMetadata();
  }

  /** kafkajs asks a connected broker. If the stale leader is the only one, it names itself. */
  private async renewMetadata(): Promise<void> {
    if (this.feeds.size === 0) return;
    // Readers do not wait for the time-out of an unreachable broker.
    await Promise.race([this.client.anyBroker().catch(() => undefined), sleep(OTHER_BROKER_MS)]);
    await this.refreshMetadata();
  }

  private async refreshMetadata(): Promise<void> {
    await this.client.refreshMetadata().catch((error: unknown) => {
      this.options.logger.debug('metadata_failed', { error: errorMessage(error) });
    });
  }
}

/** A corrupt batch fails only the reader of its partition. */
function take(feed: KafkaPartitionFeed, fetched: FetchedPartition): void {
  feed.refusedWith = fetched.errorCode;
  if (fetched.errorCode !== NO_ERROR) {
    feed.refused(fetched.errorCode);
    return;
  }
  feed.refusals = 0;
  try {
    const batch = fetchedBatch(fetched, feed.position);
    const isEmpty = batch.nextOffset === feed.position;
    feed.passedOver = isEmpty && fetched.lastStableOffset > feed.position;
    if (!isEmpty) feed.deliver(batch);
    else if (fetched.highWatermark <= feed.position) feed.unblocked();
    else if (!feed.passedOver) feed.blocked('A transaction of another producer is open.');
    else if (feed.isFirst) feed.blocked('Its leader sends nothing of it.');
  } catch (error) {
    feed.fail(toError(error));
  }
}

function tooShort(end: number): string {
  return `Its log ends before that, at ${String(end)}: it has lost records, or the topic was deleted and created again. If this lasts, decide from where to go on.`;
}

/** The ends of the log decide whether an out-of-range position is refused for good. */
function refusalsAtMost(errorCode: number): number {
  if (errorCode === OFFSET_OUT_OF_RANGE) return Infinity;
  if (!isRepeatable(errorCode)) return REFUSED_AT_MOST;
  return kafkaError(errorCode).error === undefined ? Infinity : REPEATED_AT_MOST;
}
