import type { TopicPartition } from '../record.js';
import { ByteReader, byTopic, int16, int32, string } from './bytes.js';

const PRODUCE_API_KEY = 0;
const ALL_REPLICAS = -1;
const PRODUCE_TIMEOUT_MS = 30_000;

export interface PartitionBatch extends TopicPartition {
  readonly batch: Buffer;
}

export interface ProducedPartition extends TopicPartition {
  readonly errorCode: number;
  readonly baseOffset: number;
}

/** Produce v7, acks=all, with at most one record batch per partition. `transactionalId` is null outside a transaction. */
export function produceRequest(transactionalId: string | null, batches: readonly PartitionBatch[]) {
  return {
    apiKey: PRODUCE_API_KEY,
    apiVersion: 7,
    apiName: 'Produce',
    payload: encodeProduce(transactionalId, batches),
    decode: decodeProduce,
  };
}

function encodeProduce(transactionalId: string | null, batches: readonly PartitionBatch[]): Buffer {
  const topics = byTopic(batches);
  const parts = [string(transactionalId), int16(ALL_REPLICAS), int32(PRODUCE_TIMEOUT_MS), int32(topics.size)];
  for (const [topic, list] of topics) {
    parts.push(string(topic), int32(list.length));
    for (const { partition, batch } of list) parts.push(int32(partition), int32(batch.length), batch);
  }
  return Buffer.concat(parts);
}

function decodeProduce(payload: Buffer): ProducedPartition[] {
  const reader = new ByteReader(payload);
  return reader.partitions((topic) => {
    const partition = reader.int32();
    const errorCode = reader.int16();
    const baseOffset = reader.int64();
    reader.int64(); // log append time
    reader.int64(); // log start offset
    return { topic, partition, errorCode, baseOffset };
  });
}
