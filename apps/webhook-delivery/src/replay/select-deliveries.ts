import { type AvroCodecs, resolveBatch, topics } from '@waypost/contracts';
import {
  type DeliveryStatus,
  deliveryStatus,
  isReplayed,
  replayStatusOf,
  type WebhookAttempt,
  type WebhookReplay,
} from '@waypost/domain';
import { settleOrAbort, type StreamRecord, type StreamsBackend, type TopicPartition } from '@waypost/streams';
import { readIfUsable } from '../log/read-own-record.js';

export interface SelectionParts {
  readonly backend: StreamsBackend;
  readonly codecs: AvroCodecs;
  readonly partition: number;
}

/** How far a sender's clock may be ahead of the broker's, which timestamps the log. */
const CLOCK_SKEW_MS = 60_000;

interface Outcome {
  readonly series: number;
  readonly status: DeliveryStatus;
}

/**
 * Selects the deliveries that a replay sends again by folding the attempts before `attemptsEnd`: the result is the
 * same at any time while the log keeps them.
 */
export class DeliverySelecting {
  private readonly marks = createDeliveryMarks();
  /** What became of the deliveries that earlier replays sent again, by event. */
  private readonly replayed = new Map<string, Outcome>();
  private readonly firstPass: AttemptsPass;
  private readonly secondPass: AttemptsPass;

  constructor(
    parts: SelectionParts,
    private readonly replay: WebhookReplay,
    attemptsEnd: number,
  ) {
    this.firstPass = new AttemptsPass(parts, replay, attemptsEnd);
    this.secondPass = new AttemptsPass(parts, replay, attemptsEnd);
  }

  /** Goes on with the selection. @returns null: it had to give way, and has come at least one batch further */
  async advance(mayContinue: () => boolean, signal: AbortSignal): Promise<Selection | null> {
    if (!(await this.firstPass.read((attempt) => this.note(attempt), mayContinue, signal))) return null;
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

  private noteLatest(attempt: WebhookAttempt): boolean {
    const latest = this.replayed.get(attempt.eventId);
    if (latest && replayStatusOf(this.replay, attempt) !== null) this.marks.mark(attempt.deliveryOffset, latest.status);
    return false;
  }
}

/** Reads the attempts of the subscription once, from the start of the replay's window on, in as many turns as it takes. */
class AttemptsPass {
  private position: number | null = null;
  private isOver = false;

  constructor(
    private readonly parts: SelectionParts,
    private readonly replay: WebhookReplay,
    private readonly attemptsEnd: number,
  ) {}

  /**
   * @param onAttempt returns whether it has seen enough
   * @returns whether the pass is over
   */
  async read(
    onAttempt: (attempt: WebhookAttempt) => boolean,
    mayContinue: () => boolean,
    signal: AbortSignal,
  ): Promise<boolean> {
    if (this.isOver) return true;
    const log = { topic: topics.webhookAttempts.name, partition: this.parts.partition };
    let position = await this.start(log);
    const fetcher = this.parts.backend.fetcher();
    try {
      const feed = position < this.attemptsEnd ? fetcher.open(log, position) : null;
      while (feed && position < this.attemptsEnd) {
        const batch = await settleOrAbort(feed.next(), signal);
        const attempts = await this.attemptsIn(batch.records);
        this.isOver = attempts.some(onAttempt);
        this.position = position = batch.nextOffset;
        if (this.isOver) return true;
        if (!mayContinue()) return false;
      }
    } finally {
      await fetcher.close();
    }
    return (this.isOver = true);
  }

  private async start(log: TopicPartition): Promise<number> {
    const { backend } = this.parts;
    if (this.position === null) {
      const from = await backend.offsetAt(log, Math.max(0, this.replay.startDate - CLOCK_SKEW_MS));
      return from ?? this.attemptsEnd;
    }
    // Retention may have deleted what was to be read next.
    return Math.max(this.position, await backend.startOffset(log));
  }

  private async attemptsIn(records: readonly StreamRecord[]): Promise<WebhookAttempt[]> {
    const key = Buffer.from(this.replay.subscriptionId);
    const codec = this.parts.codecs.webhookAttempts;
    const ours = records.filter((record) => record.offset < this.attemptsEnd && record.key?.equals(key) === true);
    await resolveBatch(codec, ours);
    return ours.map(({ value }) => readIfUsable(codec, value)).filter((attempt) => attempt !== null);
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
