import { type AvroCodecs, resolveBatch, type SubjectCodec, topics } from '@waypost/contracts';
import {
  type DeliveryStatus,
  deliveryStatus,
  isReplayed,
  replayStatusOf,
  type WebhookAttempt,
  type WebhookDelivery,
  type WebhookReplay,
} from '@waypost/domain';
import { settleOrAbort, type StreamRecord, type StreamsBackend, type TopicPartition } from '@waypost/streams';
import { readIfUsable } from '../log/read-own-record.js';

export interface SelectionParts {
  readonly backend: StreamsBackend;
  readonly codecs: AvroCodecs;
  readonly partition: number;
}

/** What a selection goes by. */
export interface SelectionLimits {
  readonly attemptsEnd: number;
  /** When the first earlier replay of the subscription began, by the clock of its replayer; null: there was none. */
  readonly replayedFrom: number | null;
}

/** How far the clock of a sender or replayer may be ahead of the broker's, which timestamps the log. */
const CLOCK_SKEW_MS = 60_000;

interface Outcome {
  readonly series: number;
  readonly status: DeliveryStatus;
}

/**
 * Selects the deliveries that a replay sends again by folding the attempts before `attemptsEnd`, and the deliveries of
 * earlier replays, which have all been written before this one begins: the result is the same at any time while the logs
 * keep them.
 */
export class DeliverySelecting {
  private readonly marks = createDeliveryMarks();
  /** What became of the deliveries that earlier replays sent again, by event. */
  private readonly replayed = new Map<string, Outcome>();
  private readonly firstPass: LogPass<WebhookAttempt>;
  private readonly secondPass: LogPass<WebhookAttempt>;
  /** Null where it would change nothing. */
  private readonly writtenPass: LogPass<WebhookDelivery> | null;

  constructor(
    { backend, codecs, partition }: SelectionParts,
    private readonly replay: WebhookReplay,
    { attemptsEnd, replayedFrom }: SelectionLimits,
  ) {
    const { subscriptionId, startDate, status } = replay;
    const pass = <T>(topic: string, codec: SubjectCodec<T>, from: number, end: number | null) =>
      new LogPass(backend, codec, { log: { topic, partition }, subscriptionId, from, end });
    const attempts = topics.webhookAttempts.name;
    this.firstPass = pass(attempts, codecs.webhookAttempts, startDate, attemptsEnd);
    this.secondPass = pass(attempts, codecs.webhookAttempts, startDate, attemptsEnd);
    this.writtenPass =
      status === null || replayedFrom === null
        ? null
        : pass(topics.webhookDeliveries.name, codecs.webhookDeliveries, replayedFrom, null);
  }

  /** Goes on with the selection. @returns null: it had to give way, and has come at least one batch further */
  async advance(mayContinue: () => boolean, signal: AbortSignal): Promise<Selection | null> {
    if (!(await this.firstPass.read((attempt) => this.note(attempt), mayContinue, signal))) return null;
    const isRead = await this.writtenPass?.read((delivery) => this.noteWritten(delivery), mayContinue, signal);
    if (isRead === false) return null;
    // the status of the latest series counts. A second pass, because the first one does not keep the event of each offset.
    if (this.replayed.size > 0) {
      if (!(await this.secondPass.read((attempt) => this.noteLatest(attempt), mayContinue, signal))) return null;
    }
    return this.marks.select((status) => isReplayed(this.replay, status));
  }

  /** @returns whether nothing that follows can change the selection */
  private note(attempt: WebhookAttempt): boolean {
    const { replay } = this;
    const status = replayStatusOf(replay, attempt);
    if (status !== null) this.marks.mark(attempt.deliveryOffset, status);
    if (replay.status !== null && attempt.series > 0) this.noteReplayed(attempt);
    // One event has one delivery: the attempts after its first need not be read to send it again, whatever became of it.
    return status !== null && replay.eventId !== null && replay.status === null;
  }

  /** Attempts of an earlier series may be logged after those of a later one. */
  private noteReplayed({ eventId, series, outcome }: WebhookAttempt): void {
    const known = this.replayed.get(eventId);
    if (!known || series >= known.series) this.replayed.set(eventId, { series, status: deliveryStatus(outcome) });
  }

  /** What an earlier replay has handed to the sender is pending until its first attempt. */
  private noteWritten({ eventId, series }: WebhookDelivery): boolean {
    const isEarlier = series > 0 && series < this.replay.series;
    if (isEarlier && series > (this.replayed.get(eventId)?.series ?? 0))
      this.replayed.set(eventId, { series, status: 'pending' });
    return false;
  }

  private noteLatest(attempt: WebhookAttempt): boolean {
    const latest = this.replayed.get(attempt.eventId);
    if (latest && replayStatusOf(this.replay, attempt) !== null) this.marks.mark(attempt.deliveryOffset, latest.status);
    return false;
  }
}

interface PassOptions {
  readonly log: TopicPartition;
  readonly subscriptionId: string;
  /** Epoch milliseconds. */
  readonly from: number;
  /** Null: what is in the log when the pass begins. */
  readonly end: number | null;
}

/** Reads the records of the subscription once, from a time on, in as many turns as it takes. */
class LogPass<T> {
  private position: number | null = null;
  private end: number | null;
  private isOver = false;

  constructor(
    private readonly backend: StreamsBackend,
    private readonly codec: SubjectCodec<T>,
    private readonly options: PassOptions,
  ) {
    this.end = options.end;
  }

  /**
   * @param onRecord returns whether it has seen enough
   * @returns whether the pass is over
   */
  async read(onRecord: (record: T) => boolean, mayContinue: () => boolean, signal: AbortSignal): Promise<boolean> {
    if (this.isOver) return true;
    const { log } = this.options;
    const end = (this.end ??= await this.backend.endOffset(log));
    let position = await this.start(end);
    const fetcher = this.backend.fetcher();
    try {
      const feed = position < end ? fetcher.open(log, position) : null;
      while (feed && position < end) {
        const batch = await settleOrAbort(feed.next(), signal);
        const ours = await this.oursOf(batch.records.filter(({ offset }) => offset < end));
        this.isOver = ours.some(onRecord);
        this.position = position = batch.nextOffset;
        if (this.isOver) return true;
        if (!mayContinue()) return false;
      }
    } finally {
      await fetcher.close();
    }
    return (this.isOver = true);
  }

  private async start(end: number): Promise<number> {
    const { log, from } = this.options;
    if (this.position === null) return (await this.backend.offsetAt(log, Math.max(0, from - CLOCK_SKEW_MS))) ?? end;
    // Retention may have deleted what was to be read next.
    return Math.max(this.position, await this.backend.startOffset(log));
  }

  private async oursOf(records: readonly StreamRecord[]): Promise<T[]> {
    const key = Buffer.from(this.options.subscriptionId);
    const ours = records.filter((record) => record.key?.equals(key) === true);
    await resolveBatch(this.codec, ours);
    return ours.map(({ value }) => readIfUsable(this.codec, value)).filter((record) => record !== null);
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
