/** One record as it lies in a partition. `key` and `value` are views into a fetch response: copy what outlives the batch. */
export interface StreamRecord {
  readonly offset: number;
  /** Epoch milliseconds: the broker's append time where the topic says so, else the producer's. */
  readonly timestamp: number;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
}

/** What one fetch brought of one partition. It may hold no record and still move the position. */
export interface RecordBatch {
  readonly topic: string;
  readonly partition: number;
  readonly records: readonly StreamRecord[];
  /** The position after the batch: control records, aborted records and compacted holes are behind it. */
  readonly nextOffset: number;
  readonly highWatermark: number;
}

export interface TopicPartition {
  readonly topic: string;
  readonly partition: number;
}

/** A record to be written; the partition is always explicit, so that a retry can never move it. */
export interface OutgoingRecord {
  readonly topic: string;
  readonly partition: number;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
}

export const partitionName = ({ topic, partition }: TopicPartition): string => `${topic}-${String(partition)}`;
