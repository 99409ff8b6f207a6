import { setTimeout as sleep } from 'node:timers/promises';
import type { KafkaSettings } from '../../kafka-settings.js';
import type { StreamsLogger } from '../../logger.js';
import type { FetchLimits } from '../../protocol/fetch.js';
import { MAX_BATCH_BYTES } from '../../protocol/record-collector.js';
import { METADATA_API_KEY, TOPIC_ID_METADATA_VERSION, topicIdRequest } from '../../protocol/topic-id.js';
import type { TopicPartition } from '../../record.js';
import type {
  FencedWriter,
  Fetcher,
  GroupMember,
  GroupOptions,
  StreamsBackend,
  TransactionalProducer,
} from '../backend.js';
import { createCoalescedProduce, type Produce } from './batch-writer.js';
import { createKafkaClient, type KafkaClient, retryTransient } from './kafka-client.js';
import { createKafkaFencedWriter } from './kafka-fenced-writer.js';
import { createKafkaFetcher, DEFAULT_FETCH_LIMITS } from './kafka-fetcher.js';
import { createKafkaGroupMember } from './kafka-group-member.js';
import { createKafkaProducer } from './kafka-producer.js';
import { ResponseBufferPool } from './kafkajs/response-buffer-pool.js';

export interface KafkaBackendOptions {
  readonly kafka: KafkaSettings;
  readonly logger: StreamsLogger;
  readonly now: () => number;
  readonly fetch?: Partial<FetchLimits>;
  readonly transactionTimeoutMs?: number;
}

const LATEST = -1;
const EARLIEST = -2;
const DEFAULT_TRANSACTION_TIMEOUT_MS = 15_000;
const METADATA_RETRY_FOR_MS = 15_000;

/** Apache Kafka through kafkajs's connections. */
export function createKafkaBackend(options: KafkaBackendOptions): StreamsBackend {
  return new KafkaBackend(options);
}

class KafkaBackend implements StreamsBackend {
  private lookups: KafkaClient | null = null;
  private fencedWrites: { readonly client: KafkaClient; readonly produce: Produce } | null = null;
  private readonly now: () => number;
  private readonly buffers = new ResponseBufferPool();

  constructor(private readonly options: KafkaBackendOptions) {
    this.now = options.now;
  }

  group(options: GroupOptions): GroupMember {
    const { logger } = this.options;
    return createKafkaGroupMember({ ...options, client: this.client(), offsets: this.client(), logger, now: this.now });
  }

  fetcher(): Fetcher {
    return createKafkaFetcher(this.client(), this.options.logger, { ...DEFAULT_FETCH_LIMITS, ...this.options.fetch });
  }

  producer(transactionalId: string): TransactionalProducer {
    return createKafkaProducer({
      transactionalId,
      client: this.client(),
      logger: this.options.logger,
      now: this.now,
      transactionTimeoutMs: this.options.transactionTimeoutMs ?? DEFAULT_TRANSACTION_TIMEOUT_MS,
      maxBatchBytes: MAX_BATCH_BYTES,
    });
  }

  fencedWriter(transactionalId: string, partitions: readonly TopicPartition[]): FencedWriter {
    const { client, produce } = (this.fencedWrites ??= this.sharedWrites());
    return createKafkaFencedWriter({
      transactionalId,
      partitions,
      client,
      produce,
      logger: this.options.logger,
      now: this.now,
      maxBatchBytes: MAX_BATCH_BYTES,
    });
  }

  partitionCount(topic: string): Promise<number | null> {
    return knownPartitionCount(() => this.retry('partition count', (client) => client.partitionCount(topic)), this.now);
  }

  topicId(topic: string): Promise<string | null> {
    return this.retry('topic id', async (client) => {
      const broker = await client.leader(topic, 0);
      const { [METADATA_API_KEY]: metadata } = broker.versions ?? {};
      const tellsIds = metadata !== undefined && metadata.maxVersion >= TOPIC_ID_METADATA_VERSION;
      return tellsIds ? client.callRaw(broker, topicIdRequest(topic)) : null;
    });
  }

  async endOffset(partition: TopicPartition): Promise<number> {
    return (await this.listOffset(partition, LATEST)) ?? 0;
  }

  async startOffset(partition: TopicPartition): Promise<number> {
    return (await this.listOffset(partition, EARLIEST)) ?? 0;
  }

  offsetAt(partition: TopicPartition, timestamp: number): Promise<number | null> {
    return this.listOffset(partition, timestamp);
  }

  async close(): Promise<void> {
    await Promise.all([this.lookups?.close(), this.fencedWrites?.client.close()]);
  }

  private sharedWrites(): { client: KafkaClient; produce: Produce } {
    const client = this.client();
    return { client, produce: createCoalescedProduce(client) };
  }

  private async listOffset({ topic, partition }: TopicPartition, timestamp: number): Promise<number | null> {
    return this.retry('list offsets', async (client) => {
      const answer = await client.call<{ responses: { partitions: { offset: string }[] }[] }>(
        await client.leader(topic, partition),
        'ListOffsets',
        3,
        { replicaId: -1, isolationLevel: 0, topics: [{ topic, partitions: [{ partition, timestamp }] }] },
      );
      const offset = Number(answer.responses[0]?.partitions[0]?.offset ?? -1);
      return offset < 0 ? null : offset;
    });
  }

  private retry<T>(what: string, work: (client: KafkaClient) => Promise<T>): Promise<T> {
    const client = (this.lookups ??= this.client());
    return retryTransient(() => work(client), {
      what,
      logger: this.options.logger,
      now: this.now,
      forMs: METADATA_RETRY_FOR_MS,
      onRetry: () => void client.refreshMetadata().catch(() => undefined),
    });
  }

  private client(): KafkaClient {
    return createKafkaClient(this.options.kafka, this.options.logger, this.buffers);
  }
}

const ASK_AGAIN_FOR_MS = 3_000;
const ASK_AGAIN_AFTER_MS = 200;

/**
 * The number of partitions of a topic; null when it does not exist. A broker that has just started does not know its
 * topics yet, so a topic counts as missing only after seconds of denials.
 */
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
