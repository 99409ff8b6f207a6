import { type AvroCodecs, resolveBatch, topics } from '@waypost/contracts';
import {
  type DeliveryStatus,
  deliveryStatus,
  isReplayed,
  replayStatusOf,
  type WebhookAttempt,
  type WebhookReplay,
} from '@waypost/domain';
import { settleOrAbort, type StreamsBackend } from '@waypost/streams';
import { readIfUsable } from '../common/read-own-record.js';

export interface SelectionParts {
  readonly backend: StreamsBackend;
  readonly codecs: AvroCodecs;
  readonly partition: number;
}

/** How far a sender's clock may be ahead of the broker's, which timestamps the log. */
const CLOCK_SKEW_MS = 60_000;

/**
 * Selects the deliveries that a replay sends again by folding the attempts before `attemptsEnd`: the result is the
 * same at any time while the log keeps them.
 */
export async function selectDeliveries(
  { backend, codecs, partition }: SelectionParts,
  replay: WebhookReplay,
  attemptsEnd: number,
  signal: AbortSignal,
): Promise<Selection> {
  const marks = createDeliveryMarks();
  /** What became of the deliveries that earlier replays sent again, by event. */
  const replayed = new Map<string, DeliveryStatus>();
  const read = (onAttempt: (attempt: WebhookAttempt) => void) =>
    readAttempts({ backend, codecs, partition }, replay, { attemptsEnd, signal, onAttempt });
  await read((attempt) => {
    const status = replayStatusOf(replay, attempt);
    if (status !== null) marks.mark(attempt.deliveryOffset, status);
    if (replay.status !== null && attempt.series > 0) replayed.set(attempt.eventId, deliveryStatus(attempt.outcome));
  });
  // the status of the latest series counts. A second pass, because the first one does not keep the event of each offset.
  if (replayed.size > 0) {
    await read((attempt) => {
      const latest = replayed.get(attempt.eventId);
      if (latest && replayStatusOf(replay, attempt) !== null) marks.mark(attempt.deliveryOffset, latest);
    });
  }
  return marks.select((status) => isReplayed(replay, status));
}

interface AttemptsReading {
  readonly attemptsEnd: number;
  readonly signal: AbortSignal;
  readonly onAttempt: (attempt: WebhookAttempt) => void;
}

/** The attempts of the subscription from the start of the replay's window on. */
async function readAttempts(
  { backend, codecs, partition }: SelectionParts,
  replay: WebhookReplay,
  { attemptsEnd, signal, onAttempt }: AttemptsReading,
): Promise<void> {
  const log = { topic: topics.webhookAttempts.name, partition };
  const from = await backend.offsetAt(log, Math.max(0, replay.startDate - CLOCK_SKEW_MS));
  const key = Buffer.from(replay.subscriptionId);
  const fetcher = backend.fetcher();
  try {
    let position = from ?? attemptsEnd;
    if (position < attemptsEnd) {
      const feed = fetcher.open(log, position);
      while (position < attemptsEnd) {
        const batch = await settleOrAbort(feed.next(), signal);
        const ours = batch.records.filter((record) => record.offset < attemptsEnd && record.key?.equals(key) === true);
        await resolveBatch(codecs.webhookAttempts, ours);
        for (const record of ours) {
          const attempt = readIfUsable(codecs.webhookAttempts, record.value);
          if (attempt !== null) onAttempt(attempt);
        }
        position = batch.nextOffset;
      }
    }
  } finally {
    await fetcher.close();
  }
}

/** The offsets of the deliveries that a replay sends again. */
export interface Selection {
  has(offset: number): boolean;
  readonly matched: number;
  /** The lowest and highest offset; -1: none. */
  readonly first: number;
  readonly last: number;
}

export interface DeliveryMarks {
  /** A later mark of the same offset replaces an earlier one. */
  mark(offset: number, status: DeliveryStatus): void;
  select(isWanted: (status: DeliveryStatus) => boolean): Selection;
}

const STATUS_OF: readonly (DeliveryStatus | null)[] = [null, 'pending', 'delivered', 'failed'];
const BITS = { pending: 1, delivered: 2, failed: 3 } as const satisfies Record<DeliveryStatus, number>;

const PAGE_OFFSETS = 1_024;
const OFFSETS_PER_BYTE = 4;

/**
 * The status of each delivery of a partition, in sparse pages of two bits per offset: about 40 MB for 100 million
 * deliveries at most.
 */
export function createDeliveryMarks(): DeliveryMarks {
  return new PagedMarks();
}

class PagedMarks implements DeliveryMarks {
  private readonly pages = new Map<number, Uint8Array>();

  mark(offset: number, status: DeliveryStatus): void {
    const number = Math.floor(offset / PAGE_OFFSETS);
    let page = this.pages.get(number);
    if (!page) this.pages.set(number, (page = new Uint8Array(PAGE_OFFSETS / OFFSETS_PER_BYTE)));
    const within = offset % PAGE_OFFSETS;
    const shift = (within % OFFSETS_PER_BYTE) * 2;
    const index = Math.floor(within / OFFSETS_PER_BYTE);
    page[index] = ((page[index] ?? 0) & ~(3 << shift)) | (BITS[status] << shift);
  }

  select(isWanted: (status: DeliveryStatus) => boolean): Selection {
    const has = (offset: number): boolean => {
      const status = this.statusOf(offset);
      return status !== null && isWanted(status);
    };
    let matched = 0;
    let first = -1;
    let last = -1;
    for (const number of [...this.pages.keys()].sort((a, b) => a - b)) {
      for (let offset = number * PAGE_OFFSETS; offset < (number + 1) * PAGE_OFFSETS; offset++) {
        if (!has(offset)) continue;
        matched++;
        if (first < 0) first = offset;
        last = offset;
      }
    }
    return { has, matched, first, last };
  }

  private statusOf(offset: number): DeliveryStatus | null {
    const page = this.pages.get(Math.floor(offset / PAGE_OFFSETS));
    if (!page) return null;
    const within = offset % PAGE_OFFSETS;
    const bits = (page[Math.floor(within / OFFSETS_PER_BYTE)] ?? 0) >> ((within % OFFSETS_PER_BYTE) * 2);
    return STATUS_OF[bits & 3] ?? null;
  }
}
