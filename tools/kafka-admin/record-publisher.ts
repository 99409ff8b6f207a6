import type { KafkaSettings } from '@waypost/streams';
import { Partitioners } from 'kafkajs';
import { connectKafka } from './kafka-connection.js';

export interface PublishedRecord {
  readonly key: Buffer | null;
  readonly value: Buffer | null;
}

export interface RecordPublisher {
  /** Resolves when every replica in sync has the records. Call after call, the order within a key is kept. */
  publish(records: readonly PublishedRecord[]): Promise<void>;
  close(): Promise<void>;
}

/**
 * An idempotent producer: a retry neither doubles nor reorders. Records go where the Java client's default partitioner
 * would put their key, as those of any other producer do.
 */
export async function openRecordPublisher(settings: KafkaSettings, topic: string): Promise<RecordPublisher> {
  const producer = connectKafka(settings).producer({
    idempotent: true,
    maxInFlightRequests: 1,
    createPartitioner: Partitioners.DefaultPartitioner,
    // Some two minutes: a broker that restarts is waited for.
    retry: { initialRetryTime: 100, maxRetryTime: 2_000, retries: 70 },
  });
  await producer.connect();
  return {
    async publish(records) {
      if (records.length > 0) await producer.send({ topic, acks: -1, messages: [...records] });
    },
    close: () => producer.disconnect(),
  };
}
