import { type KafkaSettings, partitionForKey } from '@waypost/streams';
import { connectKafka } from '@waypost/streams/admin';

type Kafka = ReturnType<typeof connectKafka>;

export interface PublishedRecord {
  /** Where the record goes whatever its key is. */
  readonly partition?: number | undefined;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface RecordPublisher {
  /** Resolves when every replica in sync has the records. Call after call, the order within a key is kept. */
  publish(records: readonly PublishedRecord[]): Promise<void>;
  close(): Promise<void>;
}

/**
 * An idempotent producer: a retry neither doubles nor reorders. Records go where the Java client's default partitioner
 * would put their key, as those of any other producer do.
 *
 * Hazard: one kafkajs send() for several partitions does not ask a broker again that has answered once. A partition
 * whose leader moves to that broker between two tries is dropped without a word. So each partition has its own send().
 */
export async function openRecordPublisher(settings: KafkaSettings, topic: string): Promise<RecordPublisher> {
  const kafka = connectKafka(settings);
  const partitions = await partitionCount(kafka, topic);
  const producer = kafka.producer({
    idempotent: true,
    maxInFlightRequests: 1,
    // Some two minutes: a broker that restarts is waited for.
    retry: { initialRetryTime: 100, maxRetryTime: 2_000, retries: 70 },
  });
  await producer.connect();
  let keyless = 0;
  const partitionOf = ({ key, partition }: PublishedRecord): number =>
    partition ?? (key ? partitionForKey(key, partitions) : keyless++ % partitions);
  return {
    async publish(records) {
      const groups = Array.from({ length: partitions }, (): (PublishedRecord & { readonly partition: number })[] => []);
      for (const record of records) {
        const { key, value, headers } = record;
        const partition = partitionOf(record);
        groups[partition]?.push({ key, value, partition, ...(headers && { headers }) });
      }
      const filled = groups.filter(({ length }) => length > 0);
      await Promise.all(filled.map((messages) => producer.send({ topic, acks: -1, messages })));
    },
    close: () => producer.disconnect(),
  };
}

async function partitionCount(kafka: Kafka, topic: string): Promise<number> {
  const admin = kafka.admin();
  await admin.connect();
  try {
    const { topics } = await admin.fetchTopicMetadata({ topics: [topic] });
    return topics[0]?.partitions.length ?? 1;
  } finally {
    await admin.disconnect();
  }
}
