import type { RecordBatch, TopicPartition } from '../record.js';
import type { Fetcher, StreamsBackend } from './backend.js';

/** `end` is exclusive. */
export interface LogRange {
  readonly start: number;
  readonly end: number;
}

export async function logRange(backend: StreamsBackend, partition: TopicPartition): Promise<LogRange> {
  const [start, end] = await Promise.all([backend.startOffset(partition), backend.endOffset(partition)]);
  return { start, end };
}

/**
 * Reads a partition from `from` until the position is at or after `end`. Batch positions decide when that is, never
 * record offsets: the last offsets may be markers, aborted records or compacted holes.
 * @returns the position after the last batch
 */
export async function readUpTo(
  fetcher: Fetcher,
  partition: TopicPartition,
  from: number,
  end: number,
  take: (batch: RecordBatch) => void | Promise<void>,
): Promise<number> {
  let position = from;
  if (position >= end) return position;
  const feed = fetcher.open(partition, position);
  try {
    while (position < end) {
      const batch = await feed.next();
      await take(batch);
      position = batch.nextOffset;
    }
  } finally {
    feed.close();
  }
  return position;
}

/** Reads to the end at the time of the call. */
export async function readToEnd(
  backend: StreamsBackend,
  fetcher: Fetcher,
  partition: TopicPartition,
  from: number,
  take: (batch: RecordBatch) => void | Promise<void>,
): Promise<number> {
  const { start, end } = await logRange(backend, partition);
  return readUpTo(fetcher, partition, Math.max(from, start), end, take);
}
