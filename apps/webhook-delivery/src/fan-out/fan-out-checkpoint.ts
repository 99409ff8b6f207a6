import { resolveBatch, topics, type AvroCodecs } from '@waypost/contracts';
import { readToEnd, type StreamsBackend } from '@waypost/streams';

/**
 * Where the fan-out of a partition goes on: every event before `offset` is fanned out, and whatever was written for an
 * event from there on lies at or behind these positions of webhook.deliveries, by partition.
 */
export interface FanOutCheckpoint {
  readonly offset: number;
  readonly outputsFrom: readonly number[];
}

/** The positions as the metadata of the committed offset; a broker takes 4,096 bytes of it, some 300 partitions. */
export const checkpointMetadata = (outputsFrom: readonly number[]): string => outputsFrom.join(',');

/** null: not ours. Before there were checkpoints, outputs and position were one transaction. */
export const outputsOf = (metadata: string, partitions: number): number[] | null => {
  const outputsFrom = metadata.split(',').map(Number);
  return outputsFrom.length === partitions && outputsFrom.every(Number.isSafeInteger) && metadata !== ''
    ? outputsFrom
    : null;
};

export interface WrittenDeliveries {
  /** Ids of the events that were fanned out to some subscription since the checkpoint, by anybody. */
  readonly eventIds: Set<string>;
  /** Behind what was read. */
  readonly ends: readonly number[];
}

/** What a predecessor has written for events that its committed position does not tell of. */
export const readWritten = async (
  { backend, codecs }: { readonly backend: StreamsBackend; readonly codecs: AvroCodecs },
  outputsFrom: readonly number[],
): Promise<WrittenDeliveries> => {
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
          // A replay has the ids of its originals.
          if (decoded?.type === 'decoded' && decoded.value.series === 0) eventIds.add(decoded.value.eventId);
        }
      });
      ends.push(end);
    }
  } finally {
    await fetcher.close();
  }
  return { eventIds, ends };
};
