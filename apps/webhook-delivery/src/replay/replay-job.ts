import { topics, type AvroCodecs, resolveBatch } from '@waypost/contracts';
import {
  isReplayOver,
  replayedDelivery,
  type ReplayProgress,
  type ReplayProgressState,
  type WebhookReplay,
} from '@waypost/domain';
import type { OutgoingRecord, StreamRecord, StreamsBackend, StreamsLogger } from '@waypost/streams';
import { readDelivery } from '../sender/read-delivery.js';
import type { SubscriptionDirectory } from '../subscriptions/subscription-directory.js';
import type { Selection } from './delivery-marks.js';
import { createPacer, type Pacer } from './pacer.js';
import type { ReplayLog } from './replay-log.js';
import type { ReplayMetrics } from './replay-metrics.js';
import type { ReplayRecords } from './replay-records.js';
import { selectDeliveries } from './select-deliveries.js';
import type { SendingWatch } from './sending-watch.js';
import { Aborted, untilAborted } from './until-aborted.js';

/** What the replays of one partition share. */
export interface ReplayJobParts {
  readonly backend: StreamsBackend;
  readonly codecs: AvroCodecs;
  readonly directory: Pick<SubscriptionDirectory, 'get' | 'caughtUp'>;
  readonly metrics: ReplayMetrics;
  readonly logger: StreamsLogger;
  readonly now: () => number;
  /** Resolves after the time, or at once when the signal says so. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Deliveries of one replay that are written and not yet sent, at most. */
  readonly maxUnsent: number;
}

export interface ReplayJobContext {
  readonly partition: number;
  readonly log: ReplayLog;
  readonly records: ReplayRecords;
  readonly watch: SendingWatch;
  /** Ends all waiting: the task closes. */
  readonly signal: AbortSignal;
}

/** Of one transaction, so that a cancel and other replays never wait long. */
const MAX_CHUNK = 500;
const MAX_CHUNK_BYTES = 1_048_576;
const ROOM_POLL_MS = 50;
/** Of `maxUnsent`, what has to be free before more is written: few large transactions instead of many small ones. */
const ROOM_PORTION = 4;

/**
 * One replay at work. What it writes and how far it is then are one transaction, and what it selects depends on
 * the log alone, so that whoever goes on after a crash writes the rest and nothing twice.
 */
export class ReplayJob {
  private selection: Selection | null = null;
  private readonly pacer: Pacer;
  /** Ends all waiting of this replay: the task closes, or nobody wants it any more. */
  private readonly halt = new AbortController();
  private readonly signal: AbortSignal;
  private abandoned = false;
  /** Where reading goes on; ahead of what is committed where nothing is selected. */
  private position = 0;

  constructor(
    private readonly parts: ReplayJobParts,
    private readonly context: ReplayJobContext,
    private replay: WebhookReplay,
    private progress: ReplayProgress | null,
  ) {
    this.pacer = createPacer(replay.ratePerSecond, parts.now);
    this.signal = AbortSignal.any([context.signal, this.halt.signal]);
  }

  get replayId(): string {
    return this.replay.replayId;
  }

  get subscriptionId(): string {
    return this.replay.subscriptionId;
  }

  get series(): number {
    return this.replay.series;
  }

  get isOver(): boolean {
    return this.abandoned || (this.progress !== null && isReplayOver(this.progress));
  }

  /** As it was committed last; null: nothing yet, or nobody may know any more. */
  get committed(): ReplayProgress | null {
    return this.abandoned ? null : this.progress;
  }

  /** A newer version: it can only have been cancelled. */
  update(replay: WebhookReplay): void {
    this.replay = replay;
    if (replay.cancelled) this.halt.abort();
  }

  /** It is forgotten everywhere: it ends and leaves nothing behind. */
  abandon(): void {
    this.abandoned = true;
    this.halt.abort();
  }

  /** Works until it is over or has to let others. Throws Aborted when the task closes. */
  async turn(mayGoOn: () => boolean): Promise<void> {
    try {
      if (!this.isUnwanted()) await this.work(() => mayGoOn() && !this.isUnwanted());
    } catch (error) {
      if (!(error instanceof Aborted) || this.context.signal.aborted) throw error;
    }
    if (!this.isOver && this.isUnwanted()) await this.end('cancelled');
    if (this.isOver) this.context.watch.forget(this.replayId);
  }

  private async work(goesOn: () => boolean): Promise<void> {
    // The subscription may have been made by an instance that this one has not heard of yet.
    await untilAborted(this.parts.directory.caughtUp(), this.signal);
    if (this.isDeleted()) {
      this.halt.abort();
      return;
    }
    const selection = await this.begin();
    await this.emit(selection, goesOn);
  }

  private isUnwanted(): boolean {
    return this.halt.signal.aborted || this.replay.cancelled || (this.progress !== null && this.isDeleted());
  }

  /** Nothing is made for a subscription that is paused or disabled: the replay waits until it is active again. */
  private isActive(): boolean {
    return this.parts.directory.get(this.replay.subscriptionId)?.status === 'active';
  }

  private isDeleted(): boolean {
    return this.parts.directory.get(this.replay.subscriptionId) === undefined;
  }

  private async begin(): Promise<Selection> {
    const { backend } = this.parts;
    const { partition, watch } = this.context;
    await watch.follow(this.replayId, this.subscriptionId);
    if (this.progress === null) {
      const attemptsEnd = await backend.endOffset({ topic: topics.webhookAttempts.name, partition });
      await this.save({ ...this.nothingYet(), attemptsEnd });
    }
    const { attemptsEnd } = this.current();
    this.selection ??= await selectDeliveries({ ...this.parts, partition }, this.replay, attemptsEnd, this.signal);
    const { matched } = this.selection;
    if (this.current().matched === null) await this.save({ ...this.current(), matched });
    return this.selection;
  }

  private async emit(selection: Selection, goesOn: () => boolean): Promise<void> {
    const { backend } = this.parts;
    const log = { topic: topics.webhookDeliveries.name, partition: this.context.partition };
    // The log may have lost its oldest part meanwhile, and what was selected of it.
    const from = Math.max(selection.first, await backend.startOffset(log));
    this.position = Math.max(this.position, this.current().nextDeliveryOffset, from);
    const fetcher = backend.fetcher();
    try {
      const feed = selection.matched > 0 && this.position <= selection.last ? fetcher.open(log, this.position) : null;
      while (feed && this.position <= selection.last && goesOn()) {
        const batch = await untilAborted(feed.next(), this.signal);
        const due = batch.records.filter(({ offset }) => offset >= this.position && selection.has(offset));
        if (!(await this.writeAll(due, goesOn))) return;
        this.position = batch.nextOffset;
      }
    } finally {
      await fetcher.close();
    }
    if (this.position > selection.last) await this.end('completed');
  }

  /** @returns false when it had to stop before the end */
  private async writeAll(due: readonly StreamRecord[], goesOn: () => boolean): Promise<boolean> {
    await resolveBatch(this.parts.codecs.webhookDeliveries, due);
    for (let done = 0; done < due.length;) {
      const allowed = await this.allowance(Math.min(MAX_CHUNK, due.length - done), goesOn);
      if (allowed === 0) return false;
      const chunk = withinBytes(due.slice(done, done + allowed));
      this.pacer.giveBack(allowed - chunk.length);
      await this.write(chunk);
      done += chunk.length;
    }
    return true;
  }

  /** How many may be written now; waits until there is one, or it has to stop: 0. */
  private async allowance(wanted: number, goesOn: () => boolean): Promise<number> {
    const { maxUnsent, wait } = this.parts;
    while (goesOn() && !this.signal.aborted) {
      const room = maxUnsent - this.context.watch.unsent(this.replayId);
      const hasRoom = this.isActive() && room >= Math.min(wanted, maxUnsent / ROOM_PORTION);
      const taken = hasRoom ? this.pacer.take(Math.min(wanted, room)) : 0;
      if (taken > 0) return taken;
      await wait(hasRoom ? this.pacer.waitMs(Math.min(wanted, room)) : ROOM_POLL_MS, this.signal);
    }
    return 0;
  }

  private async write(chunk: readonly StreamRecord[]): Promise<void> {
    const { codecs, metrics, now } = this.parts;
    const last = chunk.at(-1);
    if (!last) return;
    const target = { topic: topics.webhookDeliveries.name, partition: this.context.partition };
    const nowMs = now();
    const deliveries = chunk.map(({ key, value }) => ({
      ...target,
      key,
      value: codecs.webhookDeliveries.encode(replayedDelivery(readDelivery(codecs, value), this.replay, nowMs)),
    }));
    const { sent } = this.current();
    // Before the commit: the sender may be quicker than the answer.
    this.context.watch.written(this.replayId, chunk.length);
    await this.save({ ...this.current(), nextDeliveryOffset: last.offset + 1, sent: sent + chunk.length }, deliveries);
    this.position = last.offset + 1;
    metrics.deliveriesReplayed(chunk.length);
  }

  private async end(state: ReplayProgressState): Promise<void> {
    await this.save({ ...(this.progress ?? this.nothingYet()), state });
    const { replayId, subscriptionId, series } = this.replay;
    const { matched, sent } = this.current();
    this.parts.logger.info('replay_ended', { replayId, subscriptionId, series, state, matched, sent });
  }

  /** Commits where it stands, with what it writes. */
  private async save(progress: ReplayProgress, deliveries: readonly OutgoingRecord[] = []): Promise<void> {
    const next = { ...progress, updatedAt: this.parts.now() };
    await this.context.log.write([...deliveries, this.context.records.progress(next)]);
    this.progress = next;
  }

  private current(): ReplayProgress {
    if (!this.progress) throw new Error('The replay has not begun.');
    return this.progress;
  }

  private nothingYet(): ReplayProgress {
    const nowMs = this.parts.now();
    return {
      replayId: this.replayId,
      subscriptionId: this.subscriptionId,
      state: 'running',
      attemptsEnd: 0,
      nextDeliveryOffset: 0,
      matched: null,
      sent: 0,
      startedAt: nowMs,
      updatedAt: nowMs,
    };
  }
}

/** As many from the front as one transaction should hold; at least one. */
const withinBytes = (records: readonly StreamRecord[]): readonly StreamRecord[] => {
  let bytes = 0;
  const end = records.findIndex(({ value }) => (bytes += value?.length ?? 0) > MAX_CHUNK_BYTES);
  return end < 0 ? records : records.slice(0, Math.max(1, end));
};
