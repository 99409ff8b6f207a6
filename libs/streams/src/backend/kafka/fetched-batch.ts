import { errorMessage, StreamsError, UndecodedBatch } from '../../errors.js';
import type { FetchedPartition } from '../../protocol/fetch.js';
import { type ScannedRecords, scanRecordBatches } from '../../protocol/record-batch-decoder.js';
import { partitionName, type RecordBatch, type StreamRecord, type TopicPartition } from '../../record.js';
import { type BufferLease, leaseOf } from './kafkajs/response-buffer-pool.js';

/** The records that a fetch returned for a partition, decoded when they are read. */
export class FetchedBatch implements RecordBatch {
  readonly topic: string;
  readonly partition: number;
  readonly nextOffset: number;
  readonly highWatermark: number;
  readonly lastStableOffset: number;
  readonly leaderEpoch: number | undefined;
  readonly bytes: number;
  private readonly scanned: ScannedRecords;
  private decoded: StreamRecord[] | null = null;
  /** Shared with the other partitions of the response. */
  private lease: BufferLease | null;
  private released = false;

  /** @throws UndecodedBatch, which reading the records may throw too */
  constructor(
    { topic, partition, data, aborted, highWatermark, lastStableOffset }: FetchedPartition,
    private readonly position: number,
  ) {
    this.topic = topic;
    this.partition = partition;
    this.highWatermark = highWatermark;
    this.lastStableOffset = lastStableOffset;
    this.bytes = data.length;
    try {
      this.scanned = scanRecordBatches(data, position, aborted);
    } catch (error) {
      throw withPlace(error, this, position);
    }
    this.nextOffset = this.scanned.nextOffset;
    this.leaderEpoch = this.scanned.leaderEpoch;
    // An empty batch is delivered to no reader, so no reader would release it.
    this.lease = this.nextOffset > position ? leaseOf(data) : null;
    this.lease?.hold();
  }

  get records(): readonly StreamRecord[] {
    return (this.decoded ??= [...this.slices(Infinity)].flat());
  }

  *slices(maxRecords: number): Generator<StreamRecord[]> {
    if (this.released) throw new Error('A batch was read after its release.');
    try {
      yield* this.scanned.slices(maxRecords);
    } catch (error) {
      throw withPlace(error, this, this.position);
    }
  }

  release(): void {
    this.lease?.release();
    this.lease = null;
    this.released = true;
  }
}

const FIXES = {
  CORRUPT_BATCH: "Check the broker's disk and the producer, or skip them.",
  CODEC_MISSING: 'Install it and restart, or skip them.',
} as const;

function withPlace(
  error: unknown,
  batch: TopicPartition & Pick<RecordBatch, 'highWatermark'>,
  position: number,
): StreamsError {
  const name = partitionName(batch);
  const code = UndecodedBatch.codeOf(error);
  if (!(error instanceof UndecodedBatch)) {
    const what = `A record batch of ${name} after offset ${String(position)} cannot be decoded`;
    return new StreamsError(code, `${what}: ${errorMessage(error)}`, { cause: error });
  }
  const { offset } = error.undecoded;
  // The claimed length may be what is corrupt: nothing is beyond the end of the log.
  const nextOffset = Math.max(offset + 1, Math.min(error.undecoded.nextOffset, batch.highWatermark));
  const what = `The records ${String(offset)} to ${String(nextOffset - 1)} of ${name} cannot be decoded`;
  const undecoded = { ...error.undecoded, nextOffset, partition: name };
  return new UndecodedBatch(code, `${what}: ${error.message} ${FIXES[code]}`, undecoded, error.cause);
}
