/** One record as it lies in a partition. `key` and `value` are views into a fetch response: copy what outlives the batch. */
export interface StreamRecord {
  readonly offset: number;
  /** Epoch milliseconds: the broker's append time where the topic says so, else the producer's. */
  readonly timestamp: number;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
}

/**
 * A record of a fetched batch. `bytes` from `keyStart` to `keyEnd` and from `valueStart` to `valueEnd` are its key and
 * value (start -1: null), for readers to whom a Buffer for each of millions of records is too dear.
 */
export class FetchedRecord implements StreamRecord {
  constructor(
    readonly offset: number,
    readonly timestamp: number,
    readonly bytes: Buffer,
    readonly keyStart: number,
    readonly keyEnd: number,
    readonly valueStart: number,
    readonly valueEnd: number,
  ) {}

  get key(): Buffer | null {
    return this.keyStart < 0 ? null : this.bytes.subarray(this.keyStart, this.keyEnd);
  }

  get value(): Buffer | null {
    return this.valueStart < 0 ? null : this.bytes.subarray(this.valueStart, this.valueEnd);
  }
}

/** A part of a buffer; it may be written over once the call that it was given to has returned. */
export interface ByteRange {
  readonly bytes: Buffer;
  readonly start: number;
  readonly end: number;
}

/** The record as a fetch would bring it: for backends without a wire, so that what works on them works on Kafka's bytes. */
export function fetchedRecordOf({ offset, timestamp, key, value }: StreamRecord): FetchedRecord {
  const bytes = Buffer.concat([key ?? Buffer.alloc(0), value ?? Buffer.alloc(0)]);
  const middle = key?.length ?? 0;
  return new FetchedRecord(offset, timestamp, bytes, key ? 0 : -1, middle, value ? middle : -1, bytes.length);
}

/** What one fetch brought of one partition. It may hold no record and still move the position. */
export interface RecordBatch {
  readonly topic: string;
  readonly partition: number;
  readonly records: readonly StreamRecord[];
  /** The records piece by piece, where they are decoded as they are asked for. See `slicesOf`. */
  readonly slices?: (maxRecords: number) => Iterable<readonly StreamRecord[]>;
  /** The position after the batch: control records, aborted records and compacted holes are behind it. */
  readonly nextOffset: number;
  readonly highWatermark: number;
  /** Where reading ends while a transaction is open: nothing behind it is given to anybody yet. */
  readonly lastStableOffset: number;
  /**
   * Nothing of the batch is in use any more: its memory may be written over by what is fetched next. Whoever does not call it
   * leaves the memory to the garbage collector.
   */
  release?(): void;
}

/** The records of a batch, at most `maxRecords` at a time. Whoever goes through many should never hold them all. */
export function* slicesOf(batch: RecordBatch, maxRecords: number): Iterable<readonly StreamRecord[]> {
  if (batch.slices) {
    yield* batch.slices(maxRecords);
    return;
  }
  for (let from = 0; from < batch.records.length; from += maxRecords)
    yield batch.records.slice(from, from + maxRecords);
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

export function partitionName({ topic, partition }: TopicPartition): string {
  return `${topic}-${String(partition)}`;
}
