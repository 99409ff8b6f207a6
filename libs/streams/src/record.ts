import { headersSize, readHeaders, type RecordHeader, writeHeaders } from './protocol/record-headers.js';

export type { RecordHeader } from './protocol/record-headers.js';

export interface TopicPartition {
  readonly topic: string;
  readonly partition: number;
}

/**
 * A record of a partition. `key` and `value` are views into a fetch response: copy what outlives the batch. They are the
 * bytes from `keyStart` to `keyEnd` and from `valueStart` to `valueEnd` (start -1: null); reading them there avoids a
 * Buffer for each of millions of records.
 */
export class StreamRecord {
  /** @param timestamp epoch ms: the broker's append time where the topic says so, else the producer's */
  constructor(
    readonly offset: number,
    readonly timestamp: number,
    readonly bytes: Buffer,
    readonly keyStart: number,
    readonly keyEnd: number,
    readonly valueStart: number,
    readonly valueEnd: number,
    /** -1: none. */
    private readonly headersStart = -1,
  ) {}

  /** A record as a fetch would return it, for tests. */
  static of({ offset, timestamp, key, value, headers = [] }: RecordContent & RecordPlace): StreamRecord {
    const [keyEnd, end] = [key?.length ?? 0, (key?.length ?? 0) + (value?.length ?? 0)];
    const bytes = Buffer.concat([key ?? Buffer.alloc(0), value ?? Buffer.alloc(0), Buffer.alloc(headersSize(headers))]);
    writeHeaders(bytes, end, headers);
    return new StreamRecord(offset, timestamp, bytes, key ? 0 : -1, keyEnd, value ? keyEnd : -1, end, end);
  }

  get key(): Buffer | null {
    return this.keyStart < 0 ? null : this.bytes.subarray(this.keyStart, this.keyEnd);
  }

  get value(): Buffer | null {
    return this.valueStart < 0 ? null : this.bytes.subarray(this.valueStart, this.valueEnd);
  }

  /** Decoded again at each call: few processors use them. */
  get headers(): readonly RecordHeader[] {
    return this.headersStart < 0 ? [] : readHeaders(this.bytes, this.headersStart);
  }
}

type RecordPlace = Pick<StreamRecord, 'offset' | 'timestamp'>;

export interface RecordContent<Value = Buffer | null> {
  readonly key: Buffer | null;
  readonly value: Value;
  readonly headers?: readonly RecordHeader[] | undefined;
  /** Epoch ms, e.g. that of the input record; default: the time of the commit. */
  readonly timestamp?: number | undefined;
}

/** A part of a buffer, which may be overwritten once the call that received it has returned. */
export interface ByteRange {
  readonly bytes: Buffer;
  readonly start: number;
  readonly end: number;
}

export function rangeOf(bytes: Buffer | ByteRange): ByteRange {
  return bytes instanceof Uint8Array ? { bytes, start: 0, end: bytes.length } : bytes;
}

/** The result of one fetch for one partition. It may hold no record and still move the position. */
export interface RecordBatch extends TopicPartition {
  readonly records: readonly StreamRecord[];
  /** The records in slices, decoded on demand. See `slicesOf`. */
  readonly slices?: ((maxRecords: number) => Iterable<readonly StreamRecord[]>) | undefined;
  /** The position after the batch, including control records, aborted records and compacted holes. */
  readonly nextOffset: number;
  readonly highWatermark: number;
  /** Where reading ends while a transaction is open. */
  readonly lastStableOffset: number;
  /** The leader epoch of the newest record; absent: unknown. */
  readonly leaderEpoch?: number | undefined;
  /**
   * Call when the batch is no longer used: its memory may be overwritten by later fetches. A batch that is not released
   * is garbage-collected as usual.
   */
  release?(): void;
}

/** Yields at most `maxRecords` at a time, for batches that may be large. */
export function* slicesOf(batch: RecordBatch, maxRecords: number): Iterable<readonly StreamRecord[]> {
  if (batch.slices) {
    yield* batch.slices(maxRecords);
    return;
  }
  for (let from = 0; from < batch.records.length; from += maxRecords)
    yield batch.records.slice(from, from + maxRecords);
}

/** A record to write; its partition is explicit, so that a retry cannot move it. */
export interface OutgoingRecord extends TopicPartition, RecordContent {}

export function partitionName({ topic, partition }: TopicPartition): string {
  return `${topic}-${String(partition)}`;
}
