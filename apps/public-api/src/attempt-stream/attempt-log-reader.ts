import { setImmediate } from 'node:timers/promises';
import { type AvroCodecs, missingTopic, readValue, resolveBatch, topics } from '@waypost/contracts';
import { attemptFault, type WebhookAttempt } from '@waypost/domain';
import { type RecordBatch, slicesOf, type StreamsBackend, StreamsError } from '@waypost/streams';
import type { PartitionFeed } from '@waypost/streams/admin';

/** The next offset of each partition of the attempt log. */
export type LogPosition = readonly number[];

export interface AttemptSlice {
  readonly attempts: readonly { readonly attempt: WebhookAttempt; readonly position: LogPosition }[];
  /** After the slice. */
  readonly position: LogPosition;
}

export interface AttemptFollower {
  /** Once, before anything else: everything from this position on will be given. */
  begin(position: LogPosition): void;
  /** The log is read on when this has resolved. */
  take(slice: AttemptSlice): Promise<void>;
}

/** The attempt log as it grows, of all fleets. */
export abstract class AttemptLogReader {
  /**
   * Gives every slice from a position on. Rejects when the log cannot be read; ends with the signal, also before it has
   * begun.
   *
   * @param from null: from now on. What has left the log is skipped
   */
  abstract follow(from: LogPosition | null, follower: AttemptFollower, signal: AbortSignal): Promise<void>;
}

const SLICE_RECORDS = 250;
/** A stream that is behind holds two batches of each partition. From 256 KiB on, memory is taken by the MiB. */
const FETCH_SIZES = { maxBytesPerPartition: 192 * 1024, maxBytes: 1024 * 1024 };
const TOPIC = topics.webhookAttempts.name;

/** Each follower reads the log by itself: a slow one holds no other back, and resuming is the same as following. */
export function createAttemptLog(
  backend: StreamsBackend,
  codecs: Pick<AvroCodecs, 'webhookAttempts'>,
  nowMs: () => number,
): AttemptLogReader {
  const nextTurn = turnsOfTheLoop();
  return {
    async follow(from, follower, signal) {
      const start = await Promise.race([startOf(backend, from), aborted(signal).then(() => null)]);
      if (start === null) return;
      const position = start;
      follower.begin([...position]);
      const fetcher = backend.fetcher(FETCH_SIZES);
      const feeds = position.map((offset, partition) => fetcher.open({ topic: TOPIC, partition }, offset));
      let turn: Promise<void> = Promise.resolve();
      /** One slice at a time, so that positions only grow. */
      const inTurn = (work: () => Promise<void>): Promise<void> => (turn = turn.then(work));
      const readOn = (feed: PartitionFeed, partition: number) =>
        readPartition(feed, signal, (batch) =>
          inTurn(() => (signal.aborted ? Promise.resolve() : giveBatch(batch, partition))),
        );
      async function giveBatch(batch: RecordBatch, partition: number): Promise<void> {
        const isBehind = batch.nextOffset - (position[partition] ?? 0) > SLICE_RECORDS;
        for (const slice of slicesOf(batch, SLICE_RECORDS)) {
          if (isBehind) await nextTurn();
          if (signal.aborted) return;
          await resolveBatch(codecs.webhookAttempts, slice);
          const attempts = slice.flatMap(({ offset, value }) => {
            position[partition] = offset + 1;
            const read = readValue(codecs.webhookAttempts, value);
            // The projector quarantines the others, and says so.
            if (read.type !== 'value' || attemptFault(read.value, nowMs()) !== null) return [];
            return [{ attempt: read.value, position: [...position] }];
          });
          await follower.take({ attempts, position: [...position] });
        }
        position[partition] = batch.nextOffset;
      }
      try {
        await Promise.race([Promise.all(feeds.map(readOn)), aborted(signal)]);
      } finally {
        await fetcher.close();
      }
    },
  };
}

/**
 * Each call gets a turn of the event loop, and all streams share the turns. Without them, streams that are days behind and
 * match nothing would decode the log of all fleets without a pause.
 */
function turnsOfTheLoop(): () => Promise<void> {
  let last = Promise.resolve();
  return () => (last = last.then(() => setImmediate()));
}

async function readPartition(
  feed: PartitionFeed,
  signal: AbortSignal,
  give: (batch: RecordBatch) => Promise<void>,
): Promise<void> {
  while (!signal.aborted) {
    const batch = await feed.next();
    await give(batch);
    batch.release?.();
  }
}

async function startOf(backend: StreamsBackend, from: LogPosition | null): Promise<number[]> {
  const count = await backend.partitionCount(TOPIC);
  if (count === null) throw new StreamsError('TOPIC_MISSING', missingTopic(TOPIC));
  return Promise.all(
    Array.from({ length: count }, async (_, partition) => {
      const [start, end] = await Promise.all([
        backend.startOffset({ topic: TOPIC, partition }),
        backend.endOffset({ topic: TOPIC, partition }),
      ]);
      // A partition that the position does not know was added since: all of it is new.
      return from === null ? end : Math.min(end, Math.max(start, from[partition] ?? start));
    }),
  );
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
