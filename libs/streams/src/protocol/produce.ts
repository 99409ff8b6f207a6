import { ByteReader } from './bytes.js';

const PRODUCE_API_KEY = 0;
const ALL_REPLICAS = -1;
const PRODUCE_TIMEOUT_MS = 30_000;

export interface PartitionBatch {
  readonly topic: string;
  readonly partition: number;
  readonly batch: Buffer;
}

export interface ProducedPartition {
  readonly topic: string;
  readonly partition: number;
  readonly errorCode: number;
  readonly baseOffset: number;
}

/**
 * Produce v7, acks=all, with at most one record batch per partition. `transactionalId` is null outside a transaction.
 */
export function produceRequest(transactionalId: string | null, batches: readonly PartitionBatch[]) {
  return {
    apiKey: PRODUCE_API_KEY,
    apiVersion: 7,
    apiName: 'Produce',
    payload: encodeProduce(transactionalId, batches),
    decode: decodeProduce,
  };
}

function int16(value: number): Buffer {
  const buffer = Buffer.alloc(2);
  buffer.writeInt16BE(value);
  return buffer;
}

function int32(value: number): Buffer {
  const buffer = Buffer.alloc(4);
  buffer.writeInt32BE(value);
  return buffer;
}

function string(value: string | null): Buffer[] {
  if (value === null) return [int16(-1)];
  const bytes = Buffer.from(value);
  return [int16(bytes.length), bytes];
}

function encodeProduce(transactionalId: string | null, batches: readonly PartitionBatch[]): Buffer {
  const byTopic = groupByTopic(batches);
  const parts = [...string(transactionalId), int16(ALL_REPLICAS), int32(PRODUCE_TIMEOUT_MS), int32(byTopic.size)];
  for (const [topic, list] of byTopic) {
    parts.push(...string(topic), int32(list.length));
    for (const { partition, batch } of list) parts.push(int32(partition), int32(batch.length), batch);
  }
  return Buffer.concat(parts);
}

function groupByTopic(batches: readonly PartitionBatch[]): Map<string, PartitionBatch[]> {
  const groups = new Map<string, PartitionBatch[]>();
  for (const batch of batches) {
    const group = groups.get(batch.topic);
    if (group) group.push(batch);
    else groups.set(batch.topic, [batch]);
  }
  return groups;
}

function decodeProduce(payload: Buffer): ProducedPartition[] {
  const reader = new ByteReader(payload);
  return reader
    .array(() => {
      const topic = reader.string() ?? '';
      return reader.array(() => {
        const partition = reader.int32();
        const errorCode = reader.int16();
        const baseOffset = reader.int64();
        reader.int64(); // log append time
        reader.int64(); // log start offset
        return { topic, partition, errorCode, baseOffset };
      });
    })
    .flat();
}
