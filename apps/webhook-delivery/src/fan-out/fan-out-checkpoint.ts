import {
  type AvroCodecs,
  consumerGroups,
  type EventPosition,
  readEventHeader,
  resolveBatch,
  topics,
} from '@waypost/contracts';
import { MINUTE_MS, TEST_EVENT_TYPE } from '@waypost/domain';
import type { StreamsBackend, TopicPartition } from '@waypost/streams';
import { type Fetcher, readToEnd } from '@waypost/streams/admin';
import { IdTable } from '../collections/id-table.js';

/**
 * The metadata of a committed offset, from which the fan-out of a partition resumes. Every event before the offset is
 * fanned out. If any deliveries of later events were written, they lie at or after these positions of
 * webhook.deliveries, by partition. A broker accepts 4,096 bytes, enough for some 300 partitions.
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
  /** Ids of the events at or after the position that already have deliveries, whichever instance wrote them. */
  readonly eventIds: Pick<IdTable, 'has' | 'size'>;
  /** Neither this event nor one after it has a delivery; Infinity: unknown. */
  readonly until: number;
  readonly ends: readonly number[];
}

export interface ResumePoint {
  /** The partition of the events. */
  readonly partition: number;
  readonly position: number;
  readonly outputsFrom: readonly number[];
}

/**
 * Reads the deliveries that predecessors wrote for events after the committed position. Deliveries of other partitions,
 * whose tasks write to the same logs, are not kept, nor those of events before the position: each partition may have
 * written as many as its read-ahead allows, and a process may resume all partitions at once.
 */
export async function readWritten(
  { backend, codecs }: { readonly backend: StreamsBackend; readonly codecs: AvroCodecs },
  from: ResumePoint,
): Promise<WrittenDeliveries> {
  const eventIds = new IdTable({ withNumbers: false });
  const ends: number[] = [];
  let until = from.position;
  const fetcher = backend.fetcher();
  try {
    for (const [partition, outputFrom] of from.outputsFrom.entries()) {
      const log = { topic: topics.webhookDeliveries.name, partition };
      const end = await readToEnd(backend, fetcher, log, outputFrom, async ({ records }) => {
        const ours = records
          .map(({ value, headers }) => ({ value, event: readEventHeader(headers) }))
          .filter(({ event }) => mayComeAgain(from, event));
        await resolveBatch(codecs.webhookDeliveries, ours);
        for (const { value, event } of ours) {
          const eventId = fannedOut(codecs, value);
          if (eventId === null) continue;
          eventIds.add(eventId);
          until = Math.max(until, event === null ? Infinity : event.offset + 1);
        }
      });
      ends.push(end);
    }
  } finally {
    await fetcher.close();
  }
  return { eventIds, until, ends };
}

/** Whether a successor may fan out the event again; null: the delivery of an earlier version, which does not name its event. */
function mayComeAgain({ partition, position }: ResumePoint, event: EventPosition | null): boolean {
  return event === null || (event.partition === partition && event.offset >= position);
}

/** Returns the event id; null: not a delivery of the fan-out. A replayed delivery has the event id of its original. */
function fannedOut({ webhookDeliveries }: AvroCodecs, value: Buffer | null): string | null {
  const decoded = value && webhookDeliveries.decode(value);
  if (decoded?.type !== 'decoded' || decoded.value.series > 0) return null;
  return decoded.value.eventType === TEST_EVENT_TYPE ? null : decoded.value.eventId;
}

interface CommittedPosition extends TopicPartition {
  /** null: none. */
  readonly committed: number | null;
  readonly outputs: number;
}

interface CheckpointDeps {
  readonly backend: StreamsBackend;
  readonly codecs: AvroCodecs;
  readonly nowMs: () => number;
}

/** Enough time for all partitions of a new installation to get their first position. */
const FIRST_START_MS = 10 * MINUTE_MS;

/**
 * Whether the fan-out of a partition has lost its position. Starting from the beginning of the log would send all
 * retained events again.
 * @returns what happened and how to fix it; null: the position can be trusted, or nothing was ever fanned out
 */
export async function findLostPosition(
  deps: CheckpointDeps,
  { committed, outputs, ...log }: CommittedPosition,
): Promise<string | null> {
  const [start, end] = await Promise.all([deps.backend.startOffset(log), deps.backend.endOffset(log)]);
  if (committed === null) {
    if (start === end || !(await hasOldDelivery(deps, outputs))) return null;
    return lost(log, 'is gone, although deliveries were created before');
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
    'log again) or latest (which skips all events since).'
  );
}

async function hasOldDelivery({ backend, codecs, nowMs }: CheckpointDeps, outputs: number): Promise<boolean> {
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

/** The creation time of the first delivery in the log that came from an event, not from a replay or a test. */
async function firstFannedOut(
  { backend, codecs, fetcher }: Omit<CheckpointDeps, 'nowMs'> & { readonly fetcher: Fetcher },
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
