import { type AvroCodecs, resolveBatch, topics } from '@waypost/contracts';
import { readToEnd, type StreamsBackend } from '@waypost/streams';

/**
 * Where the fan-out of a partition resumes: every event before `offset` is fanned out, and the deliveries of later events,
 * if any were written, lie at or after these positions of webhook.deliveries, by partition.
 */
export interface FanOutCheckpoint {
  readonly offset: number;
  readonly outputsFrom: readonly number[];
}

/** The positions as metadata of the committed offset; a broker accepts 4,096 bytes, enough for some 300 partitions. */
export function checkpointMetadata(outputsFrom: readonly number[]): string {
  return outputsFrom.join(',');
}

/** null: not a checkpoint. Earlier versions committed deliveries and position in one transaction. */
export function outputsOf(metadata: string, partitions: number): number[] | null {
  const outputsFrom = metadata.split(',').map(Number);
  return outputsFrom.length === partitions && outputsFrom.every(Number.isSafeInteger) && metadata !== ''
    ? outputsFrom
    : null;
}

export interface WrittenDeliveries {
  /** Ids of the events with deliveries written since the checkpoint, by any instance. */
  readonly eventIds: Set<string>;
  /** The positions after the last record read. */
  readonly ends: readonly number[];
}

/** The deliveries that predecessors wrote for events after the committed position. */
export async function readWritten(
  { backend, codecs }: { readonly backend: StreamsBackend; readonly codecs: AvroCodecs },
  outputsFrom: readonly number[],
): Promise<WrittenDeliveries> {
  const eventIds = new Set<string>();
  const ends: number[] = [];
  const fetcher = backend.fetcher();
  try {
    for (const [partition, from] of outputsFrom.entries()) {
      const log = { topic: topics.webhookDeliveries.name, partition };
      const end = await readToEnd(backend, fetcher, log, from, async ({ records }) => {
        await resolveBatch(codecs.webhookDeliveries, records);
        for (const { value } of records) {
          const decoded = value && codecs.webhookDeliveries.decode(value);
          // A replayed delivery has the event id of its original.
          if (decoded?.type === 'decoded' && decoded.value.series === 0) eventIds.add(decoded.value.eventId);
        }
      });
      ends.push(end);
    }
  } finally {
    await fetcher.close();
  }
  return { eventIds, ends };
}
