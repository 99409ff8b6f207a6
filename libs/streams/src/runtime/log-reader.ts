import type { Fetcher, StreamsBackend } from '../backend/backend.js';
import type { RecordBatch, TopicPartition } from '../record.js';

/**
 * Reads a partition from `from` to the end that the log has at the time of the call. The end is decided by batch
 * positions and never by record offsets: the last offsets may be markers, aborted records or compacted holes.
 * @returns the position behind what was read
 */
export const readToEnd = async (
  backend: StreamsBackend,
  fetcher: Fetcher,
  partition: TopicPartition,
  from: number,
  take: (batch: RecordBatch) => void | Promise<void>,
): Promise<number> => {
  const end = await backend.endOffset(partition);
  let position = Math.max(from, await backend.startOffset(partition));
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
};
