import { type AvroCodecs, consumerGroups, resolveBatch, topics } from '@waypost/contracts';
import { MINUTE_MS, TEST_EVENT_TYPE } from '@waypost/domain';
import type { StreamsBackend, TopicPartition } from '@waypost/streams';
import { type Fetcher, readToEnd } from '@waypost/streams/admin';

/**
 * The metadata of a committed offset: where the fan-out of a partition resumes. Every event before the offset is fanned
 * out, and the deliveries of later events, if any were written, lie at or after these positions of webhook.deliveries, by
 * partition. A broker accepts 4,096 bytes, enough for some 300 partitions.
 */
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

interface CommittedPosition extends TopicPartition {
  /** null: none. */
  readonly committed: number | null;
  readonly outputs: number;
}

interface CheckpointParts {
  readonly backend: StreamsBackend;
  readonly codecs: AvroCodecs;
  readonly nowMs: () => number;
}

/** All partitions of a new installation get their first position well within this time. */
const FIRST_START_MS = 10 * MINUTE_MS;

/**
 * Whether the fan-out of a partition once had a position that is gone. From the start of the log it would send all events
 * of the retention again.
 * @returns what happened and how to fix it; null: the position can be trusted, or nothing was ever fanned out
 */
export async function findLostPosition(
  parts: CheckpointParts,
  { committed, outputs, ...log }: CommittedPosition,
): Promise<string | null> {
  const [start, end] = await Promise.all([parts.backend.startOffset(log), parts.backend.endOffset(log)]);
  if (committed === null) {
    if (start === end || !(await hasOldDelivery(parts, outputs))) return null;
    return lost(log, 'is gone, although deliveries were made before');
  }
  if (committed >= start && committed <= end) return null;
  return lost(log, `is ${String(committed)}, but the log goes from ${String(start)} to ${String(end)}`);
}

function lost({ topic, partition }: TopicPartition, what: string): string {
  const { id } = consumerGroups.fanOut;
  return (
    `The committed offset of ${id} for ${topic}-${String(partition)} ${what}. Nothing is sent until you choose where to ` +
    `continue: waypost tasks seek ${id}:${String(partition)} OFFSET, with the offset of the first event that was not fanned ` +
    `out (waypost read ${topic} --from TIME_OF_THE_LAST_DELIVERY shows offsets), earliest (which sends all events in the ` +
    'log again) or latest (which skips what came meanwhile).'
  );
}

async function hasOldDelivery({ backend, codecs, nowMs }: CheckpointParts, outputs: number): Promise<boolean> {
  const fetcher = backend.fetcher();
  try {
    for (let partition = 0; partition < outputs; partition++) {
      const log = { topic: topics.webhookDeliveries.name, partition };
      const madeAt = await firstFannedOut({ backend, codecs, fetcher }, log);
      if (madeAt !== null && madeAt < nowMs() - FIRST_START_MS) return true;
    }
    return false;
  } finally {
    await fetcher.close();
  }
}

/** When the first delivery in the log was made that came from an event, not from a replay or a test. */
async function firstFannedOut(
  { backend, codecs, fetcher }: Omit<CheckpointParts, 'nowMs'> & { readonly fetcher: Fetcher },
  log: TopicPartition,
): Promise<number | null> {
  const [start, end] = await Promise.all([backend.startOffset(log), backend.endOffset(log)]);
  if (start === end) return null;
  const feed = fetcher.open(log, start);
  try {
    for (let position = start; position < end;) {
      const { records, nextOffset } = await feed.next();
      await resolveBatch(codecs.webhookDeliveries, records);
      for (const { value } of records) {
        const decoded = value && codecs.webhookDeliveries.decode(value);
        if (decoded?.type !== 'decoded' || decoded.value.series > 0) continue;
        if (decoded.value.eventType !== TEST_EVENT_TYPE) return decoded.value.createdAt;
      }
      position = nextOffset;
    }
    return null;
  } finally {
    feed.close();
  }
}
