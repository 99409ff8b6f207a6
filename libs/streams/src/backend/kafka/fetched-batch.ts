import { errorMessage, StreamsError, UndecodedBatch } from '../../errors.js';
import type { FetchedPartition } from '../../protocol/fetch.js';
import { type ScannedRecords, scanRecordBatches } from '../../protocol/record-batch-decoder.js';
import { partitionName, type RecordBatch, type StreamRecord } from '../../record.js';
import { leaseOf } from './kafkajs/response-buffer-pool.js';

/** Its memory is shared with the other partitions of the response. */
export type FetchedBatch = FetchedPartition & RecordBatch;

/**
 * The records that a fetch returned for a partition, decoded when they are read.
 * @throws UndecodedBatch, which reading the records may throw too
 */
export function fetchedBatch(fetched: FetchedPartition, position: number): FetchedBatch {
  const { nextOffset, leaderEpoch, slices: scanned } = scan(fetched, position);
  // An empty batch is delivered to no reader, so no reader would release it.
  let lease = nextOffset > position ? leaseOf(fetched.data) : null;
  lease?.hold();
  let decoded: StreamRecord[] | null = null;
  let isReleased = false;
  function* slices(maxRecords: number): Generator<StreamRecord[]> {
    if (isReleased) throw new Error('A batch was read after its release.');
    try {
      yield* scanned(maxRecords);
    } catch (error) {
      throw withPlace(error, fetched, position);
    }
  }
  return {
    ...fetched,
    nextOffset,
    leaderEpoch,
    slices,
    get records() {
      return (decoded ??= [...slices(Infinity)].flat());
    },
    release: () => {
      lease?.release();
      lease = null;
      isReleased = true;
    },
  };
}

function scan(fetched: FetchedPartition, position: number): ScannedRecords {
  try {
    return scanRecordBatches(fetched.data, position, fetched.aborted);
  } catch (error) {
    throw withPlace(error, fetched, position);
  }
}

const FIXES = {
  CORRUPT_BATCH: "Check the broker's disk and the producer, or skip them.",
  CODEC_MISSING: 'Install it and restart, or skip them.',
} as const;

function withPlace(error: unknown, fetched: FetchedPartition, position: number): StreamsError {
  const name = partitionName(fetched);
  const code = UndecodedBatch.codeOf(error);
  if (!(error instanceof UndecodedBatch)) {
    const what = `A record batch of ${name} after offset ${String(position)} cannot be decoded`;
    return new StreamsError(code, `${what}: ${errorMessage(error)}`, { cause: error });
  }
  const { offset } = error.undecoded;
  // The claimed length may be what is corrupt: nothing is beyond the end of the log.
  const nextOffset = Math.max(offset + 1, Math.min(error.undecoded.nextOffset, fetched.highWatermark));
  const what = `The records ${String(offset)} to ${String(nextOffset - 1)} of ${name} cannot be decoded`;
  const undecoded = { ...error.undecoded, nextOffset, partition: name };
  return new UndecodedBatch(code, `${what}: ${error.message} ${FIXES[code]}`, undecoded, error.cause);
}
