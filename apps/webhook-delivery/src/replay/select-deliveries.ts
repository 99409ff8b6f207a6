import { type AvroCodecs, type SubjectCodec, topics } from '@waypost/contracts';
import {
  type DeliveryResult,
  goesByResult,
  isOfReplay,
  isReplayed,
  resultOf,
  type WebhookAttempt,
  type WebhookDelivery,
  type WebhookReplay,
} from '@waypost/domain';
import type { StreamsBackend } from '@waypost/streams';
import { LatestSeries } from './latest-series.js';
import { LogPass } from './log-pass.js';

export interface SelectionDeps {
  readonly backend: StreamsBackend;
  readonly codecs: AvroCodecs;
  readonly partition: number;
}

/** What limits a selection. */
export interface SelectionLimits {
  readonly attemptsEnd: number;
  /** When the first earlier replay of the subscription began, by the clock of its replayer; null: there was none. */
  readonly replayedFrom: number | null;
  /** How many replayed events are held at a time. */
  readonly eventsAtOnce?: number;
}

/** The passes over the log for one portion of the replayed events. */
interface Passes {
  readonly first: LogPass<WebhookAttempt>;
  /** null: the pass would change nothing. */
  readonly written: LogPass<WebhookDelivery> | null;
  readonly second: LogPass<WebhookAttempt>;
}

const NOTHING_SENT: DeliveryResult = { status: 'pending', statusCode: null };

/**
 * Selects the deliveries that a replay sends again by folding the attempts before `attemptsEnd` and the
 * deliveries of earlier replays, which were all written before this one began. The result is the same at any time while
 * the logs keep them.
 */
export class DeliverySelecting {
  private readonly marks = new DeliveryMarks();
  private readonly latest: LatestSeries;
  private passes: Passes;
  private isFirstPortion = true;

  constructor(
    private readonly deps: SelectionDeps,
    private readonly replay: WebhookReplay,
    private readonly limits: SelectionLimits,
  ) {
    this.latest = new LatestSeries(limits.eventsAtOnce);
    this.passes = this.passesOfPortion();
  }

  /** Size in memory. */
  get bytes(): number {
    return this.marks.bytes + this.latest.bytes;
  }

  /** Continues the selection. @returns null: it had to yield, after at least one batch */
  async advance(mayContinue: () => boolean, signal: AbortSignal): Promise<Selection | null> {
    for (;;) {
      const { first, written, second } = this.passes;
      if (!(await first.read((attempt) => this.note(attempt), mayContinue, signal))) return null;
      const isRead = await written?.read((delivery) => this.noteWritten(delivery), mayContinue, signal);
      if (isRead === false) return null;
      // the latest series counts. This takes a second pass: the first one does not keep the event of each offset.
      if (!this.latest.isEmpty) {
        if (!(await second.read((attempt) => this.noteLatest(attempt), mayContinue, signal))) return null;
      }
      if (!this.latest.next()) return this.marks.selection();
      this.isFirstPortion = false;
      this.passes = this.passesOfPortion();
    }
  }

  private passesOfPortion(): Passes {
    const { backend, codecs, partition } = this.deps;
    const { attemptsEnd, replayedFrom } = this.limits;
    const { subscriptionId, startDate } = this.replay;
    const pass = <T>(topic: string, codec: SubjectCodec<T>, from: number, end: number | null) =>
      new LogPass(backend, codec, { log: { topic, partition }, subscriptionId, from, end });
    const ofAttempts = () => pass(topics.webhookAttempts.name, codecs.webhookAttempts, startDate, attemptsEnd);
    return {
      first: ofAttempts(),
      written:
        !goesByResult(this.replay) || replayedFrom === null
          ? null
          : pass(topics.webhookDeliveries.name, codecs.webhookDeliveries, replayedFrom, null),
      second: ofAttempts(),
    };
  }

  /** @returns whether no later attempt can change the selection */
  private note(attempt: WebhookAttempt): boolean {
    const { replay } = this;
    const isCandidate = isOfReplay(replay, attempt);
    // The results of later portions replace the mark.
    if (isCandidate && this.isFirstPortion)
      this.marks.mark(attempt.deliveryOffset, isReplayed(replay, resultOf(attempt)));
    if (goesByResult(replay) && attempt.series > 0) this.noteReplayed(attempt);
    // An event has one delivery: regardless of results, the attempts after its first need not be read.
    return isCandidate && replay.eventId !== null && !goesByResult(replay);
  }

  /** Attempts of an earlier series may be logged after those of a later one. */
  private noteReplayed(attempt: WebhookAttempt): void {
    const { eventId, series } = attempt;
    if (series < this.latest.seriesOf(eventId)) return;
    this.latest.put(eventId, series, isReplayed(this.replay, resultOf(attempt)));
  }

  /** A delivery that an earlier replay has written is pending until its first attempt. */
  private noteWritten({ eventId, series }: WebhookDelivery): boolean {
    const isEarlier = series > 0 && series < this.replay.series;
    if (isEarlier && series > this.latest.seriesOf(eventId))
      this.latest.put(eventId, series, isReplayed(this.replay, NOTHING_SENT));
    return false;
  }

  private noteLatest(attempt: WebhookAttempt): boolean {
    const isSelected = this.latest.isSelected(attempt.eventId);
    if (isSelected !== undefined && isOfReplay(this.replay, attempt))
      this.marks.mark(attempt.deliveryOffset, isSelected);
    return false;
  }
}

/** The offsets of the deliveries that a replay sends again. */
export interface Selection {
  has(offset: number): boolean;
  readonly matched: number;
  /** The lowest and highest offset; -1: none. */
  readonly first: number;
  readonly last: number;
  /** Size in memory. */
  readonly bytes: number;
}

const PAGE_OFFSETS = 2_048;
const OFFSETS_PER_WORD = 32;
/** Includes the overhead of an array and its entry in a Map. */
const BYTES_OF_PAGE = 512;

export class DeliveryMarks {
  private readonly pages = new Map<number, Uint32Array>();
  private matched = 0;

  /** Size in memory. */
  get bytes(): number {
    return this.pages.size * BYTES_OF_PAGE;
  }

  /** A later mark of the same offset replaces an earlier one. */
  mark(offset: number, isSelected: boolean): void {
    const number = Math.floor(offset / PAGE_OFFSETS);
    let page = this.pages.get(number);
    if (!page) this.pages.set(number, (page = new Uint32Array(PAGE_OFFSETS / OFFSETS_PER_WORD)));
    const { index, bit } = placeOf(offset);
    const word = page[index] ?? 0;
    const wasSelected = (word & bit) !== 0;
    if (isSelected === wasSelected) return;
    page[index] = word ^ bit;
    this.matched += isSelected ? 1 : -1;
  }

  selection(): Selection {
    const has = (offset: number): boolean => {
      const page = this.pages.get(Math.floor(offset / PAGE_OFFSETS));
      const { index, bit } = placeOf(offset);
      return ((page?.[index] ?? 0) & bit) !== 0;
    };
    const { matched, bytes } = this;
    return { has, matched, ...this.bounds(), bytes };
  }

  /** By the word, not by the offset: a replay may span 100 million, and retries wait meanwhile. */
  private bounds(): Pick<Selection, 'first' | 'last'> {
    let first = -1;
    let last = -1;
    for (const [number, page] of this.pages) {
      for (let index = 0; index < page.length; index++) {
        const word = page[index] ?? 0;
        if (word === 0) continue;
        const from = number * PAGE_OFFSETS + index * OFFSETS_PER_WORD;
        const lowest = from + highestBit(word & -word);
        if (first < 0 || lowest < first) first = lowest;
        last = Math.max(last, from + highestBit(word));
      }
    }
    return { first, last };
  }
}

function highestBit(word: number): number {
  return OFFSETS_PER_WORD - 1 - Math.clz32(word);
}

function placeOf(offset: number): { readonly index: number; readonly bit: number } {
  const within = offset % PAGE_OFFSETS;
  return { index: Math.floor(within / OFFSETS_PER_WORD), bit: 1 << (within % OFFSETS_PER_WORD) };
}
