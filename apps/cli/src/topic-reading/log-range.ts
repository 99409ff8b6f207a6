import type { TopicDefinition } from '@waypost/contracts';
import { LOG_RETENTION_MS } from '@waypost/domain';
import type { RecordBatch, StreamsBackend, TopicPartition } from '@waypost/streams';
import type { Fetcher } from '@waypost/streams/admin';

/** The range of a topic to read. Times are the log's: the broker's append time, or the producer's. */
export interface LogRange {
  /** Epoch ms, inclusive; null: from the first record kept. */
  readonly from: number | null;
  /** Epoch ms, exclusive; ends the reading, as `untilEnd` does. */
  readonly to: number | null;
  /** Stop at the end that the log has now, instead of waiting for more. */
  readonly untilEnd: boolean;
  /** Where an earlier reading of the same range has stopped, by partition. */
  readonly positions?: ReadonlyMap<number, number>;
  /** Ends that come before those of the range, by partition. */
  readonly ends?: ReadonlyMap<number, number>;
  /** Called once with the number of offsets to read over all partitions; not for an open end. */
  readonly onTotal?: (offsets: number) => void;
}

/** The part of a streams backend that reading needs; it gives committed records only. */
export type LogSource = Pick<StreamsBackend, 'partitionCount' | 'startOffset' | 'endOffset' | 'offsetAt' | 'fetcher'>;

interface Span {
  readonly start: number;
  /** null: open end, follow the log. */
  readonly end: number | null;
}

/**
 * Reads a range of every partition of a topic: one partition after the other when it ends, all at once when it does not.
 * Positions decide about the end, not records: the last offsets of a partition may be transaction markers.
 */
export async function readLogRange(
  source: LogSource,
  topic: Pick<TopicDefinition, 'name' | 'cleanup'>,
  partitions: number,
  range: LogRange,
  take: (batch: RecordBatch) => Promise<void>,
): Promise<void> {
  const fetcher = source.fetcher();

  async function readPartition(partition: TopicPartition, { start, end }: Span): Promise<void> {
    if (end !== null && start >= end) return;
    const feed = fetcher.open(partition, start);
    try {
      for (let position = start; end === null || position < end;) {
        const batch = await feed.next();
        await take(end === null ? batch : before(batch, end));
        position = batch.nextOffset;
      }
    } finally {
      feed.close();
    }
  }

  try {
    const all = Array.from({ length: partitions }, (_, partition) => ({ topic: topic.name, partition }));
    const spans = await Promise.all(all.map((partition) => spanOf(source, topic, partition, range)));
    if (spans.every(({ end }) => end !== null)) range.onTotal?.(lengthOf(spans));
    const reads = all.map((partition, index) => () => readPartition(partition, spans[index] ?? { start: 0, end: 0 }));
    if (range.untilEnd || range.to !== null) for (const read of reads) await read();
    else await Promise.all(reads.map((read) => read()));
  } finally {
    await fetcher.close();
  }
}

/**
 * Since when each partition surely has all of its records, epoch milliseconds; -Infinity: it was not cut. Where it was, what
 * came before the first record that is kept may be gone, but nothing that is younger than the retention.
 */
export async function readKeptSince(
  source: LogSource,
  { topic, partitions, nowMs }: { readonly topic: string; readonly partitions: number; readonly nowMs: number },
): Promise<number[]> {
  const fetcher = source.fetcher();

  try {
    const since: number[] = [];
    for (let partition = 0; partition < partitions; partition += 1) {
      const start = await source.startOffset({ topic, partition });
      const cutBefore = nowMs - LOG_RETENTION_MS;
      const firstAt = async (): Promise<number> => firstAppendAt(source, fetcher, { topic, partition });
      since.push(start === 0 ? -Infinity : Math.min(await firstAt(), cutBefore));
    }
    return since;
  } finally {
    await fetcher.close();
  }
}

/** When the first record was appended that a partition has, epoch ms; Infinity: it has none. */
export async function firstAppendAt(
  source: Pick<LogSource, 'startOffset' | 'endOffset'>,
  fetcher: Fetcher,
  partition: TopicPartition,
): Promise<number> {
  const [start, end] = await Promise.all([source.startOffset(partition), source.endOffset(partition)]);
  const feed = fetcher.open(partition, start);
  try {
    // The first offsets may be transaction markers.
    for (let position = start; position < end;) {
      const { records, nextOffset } = await feed.next();
      const [first] = records;
      if (first !== undefined) return first.timestamp;
      position = nextOffset;
    }
    return Infinity;
  } finally {
    feed.close();
  }
}

function lengthOf(spans: readonly Span[]): number {
  return spans.reduce((sum, { start, end }) => sum + Math.max(0, (end ?? start) - start), 0);
}

async function spanOf(
  source: LogSource,
  topic: Pick<TopicDefinition, 'cleanup'>,
  partition: TopicPartition,
  { from, to, untilEnd, positions, ends }: LogRange,
): Promise<Span> {
  const last = await source.endOffset(partition);
  const end = Math.min(last, ends?.get(partition.partition) ?? last);
  const first = from === null ? await source.startOffset(partition) : ((await source.offsetAt(partition, from)) ?? end);
  const start = Math.max(first, positions?.get(partition.partition) ?? first);
  if (!untilEnd && to === null) return { start, end: null };
  // Times rise along the partition only where the broker stamps them; elsewhere the caller's filter must do.
  const bound = to === null || topic.cleanup === 'compact' ? null : await source.offsetAt(partition, to);
  return { start, end: Math.min(end, bound ?? end) };
}

/** Cuts a batch at the end, so that a later read with another end starts exactly there. */
function before(batch: RecordBatch, end: number): RecordBatch {
  if (batch.nextOffset <= end) return batch;
  return { ...batch, nextOffset: end, records: batch.records.filter((record) => record.offset < end) };
}
