import { type KafkaSettings, partitionForKey } from '@waypost/streams';
import { connectKafka, openAdmin } from '@waypost/streams/admin';

type Message = Omit<PublishedRecord, 'timestamp'> & { readonly partition: number; readonly timestamp?: string };

/** The broker's time in its response, if it has not put that into the records. */
const NOT_STAMPED = '-1';

export interface PublishedRecord {
  /** Overrides the partition of the key. */
  readonly partition?: number | undefined;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers?: Readonly<Record<string, string>>;
  /** Epoch ms. Default: now. */
  readonly timestamp?: number;
}

export interface RecordPublisher {
  /** Resolves when every in-sync replica has the records. Consecutive calls keep the order within a key. */
  publish(records: readonly PublishedRecord[]): Promise<void>;
  /** Publishes it. @returns false: the topic has the time of the broker in each record, whatever `timestamp` is */
  keepsTimeOf(record: PublishedRecord): Promise<boolean>;
  close(): Promise<void>;
}

/**
 * An idempotent producer: a retry neither duplicates nor reorders. Records go to the partition that the Java client's
 * default partitioner chooses, as with any other producer.
 *
 * Hazard: kafkajs's send() for several partitions does not ask a broker again that has already answered. If a
 * partition's leader moves to that broker between two tries, its records are silently dropped. So each partition has
 * its own send().
 */
export async function openRecordPublisher(settings: KafkaSettings, topic: string): Promise<RecordPublisher> {
  const partitions = await partitionCount(settings, topic);
  const producer = connectKafka(settings).producer({
    idempotent: true,
    maxInFlightRequests: 1,
    // Some two minutes, enough for a broker to restart.
    retry: { initialRetryTime: 100, maxRetryTime: 2_000, retries: 70 },
  });
  await producer.connect();
  let keyless = 0;
  const partitionOf = ({ key, partition }: PublishedRecord): number =>
    partition ?? (key ? partitionForKey(key, partitions) : keyless++ % partitions);
  async function send(records: readonly PublishedRecord[]) {
    const groups = Array.from({ length: partitions }, (): Message[] => []);
    for (const record of records) {
      const { key, value, headers, timestamp } = record;
      const partition = partitionOf(record);
      const message = { key, value, partition, ...(headers && { headers }) };
      groups[partition]?.push({ ...message, ...(timestamp !== undefined && { timestamp: String(timestamp) }) });
    }
    const filled = groups.filter(({ length }) => length > 0);
    const sent = await Promise.all(filled.map((messages) => producer.send({ topic, acks: -1, messages })));
    return sent.flat();
  }
  return {
    async publish(records) {
      await send(records);
    },
    async keepsTimeOf(record) {
      const sent = await send([record]);
      return sent.every(({ logAppendTime }) => logAppendTime === NOT_STAMPED);
    },
    close: () => producer.disconnect(),
  };
}

async function partitionCount(settings: KafkaSettings, topic: string): Promise<number> {
  const admin = await openAdmin(settings);
  try {
    const { topics } = await admin.fetchTopicMetadata({ topics: [topic] });
    return topics[0]?.partitions.length ?? 1;
  } finally {
    await admin.disconnect();
  }
}
