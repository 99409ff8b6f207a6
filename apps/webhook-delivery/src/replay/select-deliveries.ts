import { type AvroCodecs, resolveBatch, topics } from '@waypost/contracts';
import { type DeliveryStatus, isReplayed, replayStatusOf, type WebhookReplay } from '@waypost/domain';
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
          const status = attempt && replayStatusOf(replay, attempt);
          if (attempt !== null && status !== null) marks.mark(attempt.deliveryOffset, status);
        }
        position = batch.nextOffset;
      }
    }
  } finally {
    await fetcher.close();
  }
  return marks.select((status) => isReplayed(replay, status));
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
