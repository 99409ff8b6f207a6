import { setTimeout as sleep } from 'node:timers/promises';
import { StreamsError } from '../../errors.js';
import type { KafkaSettings } from '../../kafka-settings.js';
import type { StreamsLogger } from '../../logger.js';
import { epochEndRequest } from '../../protocol/epoch-end.js';
import type { FetchSizes } from '../../protocol/fetch.js';
import { METADATA_API_KEY, TOPIC_ID_METADATA_VERSION, topicIdRequest } from '../../protocol/topic-id.js';
import { partitionName, type TopicPartition } from '../../record.js';
import { StallWatch } from '../../stalls.js';
import type {
  FencedWriter,
  Fetcher,
  GroupMember,
  GroupOptions,
  StreamsBackend,
  TransactionalProducer,
} from '../backend.js';
import { createCoalescedProduce, type Produce } from './batch-writer.js';
import { describeConfigs } from './describe-configs.js';
import { KafkaClient, retryTransient } from './kafka-client.js';
import { FENCED_LEADER_EPOCH, kafkaErrorCode } from './kafka-errors.js';
import { KafkaFencedWriter } from './kafka-fenced-writer.js';
import { KafkaFetcher } from './kafka-fetcher.js';
import { KafkaGroupMember } from './kafka-group-member.js';
import { KafkaProducer } from './kafka-producer.js';
import { ResponseBufferPool } from './kafkajs/response-buffer-pool.js';
import { EARLIEST, LATEST, OffsetLookups } from './offset-lookups.js';

export interface KafkaBackendOptions {
  readonly kafka: KafkaSettings;
  readonly logger: StreamsLogger;
  /** The wall clock, epoch ms. */
  readonly now: () => number;
  /** For leases and time-outs, which must not depend on the wall clock; default `performance.now`. */
  readonly monotonicNow?: (() => number) | undefined;
  readonly transactionTimeoutMs?: number | undefined;
  readonly onCommit?: ((transactionalId: string, durationMs: number) => void) | undefined;
}

const ANY_EPOCH = -1;
const DEFAULT_TRANSACTION_TIMEOUT_MS = 15_000;
const METADATA_RETRY_FOR_MS = 15_000;

function monotonicClock(): number {
  // eslint-disable-next-line no-restricted-properties -- a lease is of this process; no replay repeats it
  return performance.now();
}

export function createKafkaBackend(options: KafkaBackendOptions): StreamsBackend {
  return new KafkaBackend(options);
}

class KafkaBackend implements StreamsBackend {
  readonly stalls: StallWatch;
  private readonly buffers = new ResponseBufferPool();
  private readonly shared;
  private readonly lookups: KafkaClient;
  private readonly offsets: OffsetLookups;
  private readonly fencedWrites: { readonly client: KafkaClient; readonly produce: Produce };

  constructor(private readonly options: KafkaBackendOptions) {
    const { logger, now, monotonicNow = monotonicClock } = options;
    this.stalls = new StallWatch(options);
    this.shared = { logger, now, monotonicNow, stalls: this.stalls };
    this.lookups = this.client();
    this.offsets = new OffsetLookups(this.lookups);
    const client = this.client();
    this.fencedWrites = { client, produce: createCoalescedProduce(client) };
  }

  group(options: GroupOptions): GroupMember {
    return new KafkaGroupMember({ ...this.shared, ...options, client: this.client(), offsets: this.client() });
  }

  fetcher(sizes?: FetchSizes): Fetcher {
    return new KafkaFetcher({ ...this.shared, client: this.client(), sizes });
  }

  producer(transactionalId: string): TransactionalProducer {
    const { transactionTimeoutMs = DEFAULT_TRANSACTION_TIMEOUT_MS, onCommit } = this.options;
    const client = this.client();
    return new KafkaProducer({ ...this.shared, transactionalId, client, transactionTimeoutMs, onCommit });
  }

  fencedWriter(transactionalId: string, partitions: readonly TopicPartition[]): FencedWriter {
    return new KafkaFencedWriter({ ...this.shared, ...this.fencedWrites, transactionalId, partitions });
  }

  partitionCount(topic: string, { fresh } = { fresh: false }): Promise<number | null> {
    const ask = (): Promise<number | null> =>
      this.retry(`Partition count of ${topic}`, async (client) => {
        if (fresh) await client.refreshMetadata();
        return client.partitionCount(topic);
      });
    return knownPartitionCount(ask, this.shared.monotonicNow);
  }

  async topicSettings(topic: string): Promise<ReadonlyMap<string, string> | null> {
    try {
      return await this.retry(`DescribeConfigs of ${topic}`, async (client) => {
        await client.knownTopic(topic);
        // Any broker has them, even while the topic has no leader.
        const settings = await describeConfigs(client, await client.anyBroker(), { type: 'topic', name: topic });
        return settings && settings.set('replication.factor', String(client.replicaCount(topic)));
      });
    } catch (error) {
      if (error instanceof StreamsError && error.code === 'ACCESS_DENIED') return null;
      throw error;
    }
  }

  topicId(topic: string): Promise<string | null> {
    return this.retry(`Topic id of ${topic}`, async (client) => {
      await client.knownTopic(topic);
      // Any broker has it, even while the topic has no leader.
      const broker = await client.anyBroker();
      const { [METADATA_API_KEY]: metadata } = broker.versions ?? {};
      const tellsIds = metadata !== undefined && metadata.maxVersion >= TOPIC_ID_METADATA_VERSION;
      return tellsIds ? client.callRaw(broker, topicIdRequest(topic)) : null;
    });
  }

  async endOffset(partition: TopicPartition): Promise<number> {
    return (await this.offsetAt(partition, LATEST)) ?? 0;
  }

  async startOffset(partition: TopicPartition): Promise<number> {
    return (await this.offsetAt(partition, EARLIEST)) ?? 0;
  }

  offsetAt(partition: TopicPartition, timestamp: number): Promise<number | null> {
    return this.retry(`ListOffsets of ${partitionName(partition)}`, () => this.offsets.find(partition, timestamp));
  }

  epochEnd(partition: TopicPartition, epoch: number, reached = ANY_EPOCH): Promise<number | null> {
    return this.retry(`OffsetForLeaderEpoch of ${partitionName(partition)}`, async (client) => {
      // The leader has changed. Not done when a task starts: all tasks would read the metadata again.
      if (reached !== ANY_EPOCH) await client.refreshMetadata();
      const leader = await client.leader(partition.topic, partition.partition);
      const ask = (present: number): Promise<number | null> =>
        client.callRaw(leader, epochEndRequest(partition, epoch, present));
      return ask(reached).catch((error: unknown) => {
        // The broker has a later epoch. One with an earlier epoch no longer leads, and is not asked again.
        if (kafkaErrorCode(error) === FENCED_LEADER_EPOCH) return ask(ANY_EPOCH);
        throw error;
      });
    });
  }

  async close(): Promise<void> {
    await Promise.all([this.lookups.close(), this.fencedWrites.client.close()]);
  }

  private retry<T>(what: string, work: (client: KafkaClient) => Promise<T>): Promise<T> {
    return retryTransient(() => work(this.lookups), {
      ...this.shared,
      what,
      forMs: METADATA_RETRY_FOR_MS,
      onRetry: () => void this.lookups.refreshMetadata().catch(() => undefined),
    });
  }

  private client(): KafkaClient {
    return new KafkaClient(this.options.kafka, this.options.logger, this.buffers);
  }
}

const ASK_AGAIN_FOR_MS = 3_000;
const ASK_AGAIN_AFTER_MS = 200;

/** null: it does not exist. A broker that has just started knows no topics, so the answer counts only after seconds. */
export async function knownPartitionCount(
  ask: () => Promise<number | null>,
  now: () => number,
): Promise<number | null> {
  const startedAt = now();
  for (;;) {
    const count = await ask();
    if (count !== null || now() - startedAt >= ASK_AGAIN_FOR_MS) return count;
    await sleep(ASK_AGAIN_AFTER_MS);
  }
}
