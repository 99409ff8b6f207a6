import { type AvroCodecs, resolveBatch, topics } from '@waypost/contracts';
import {
  isReplayOver,
  replayedDelivery,
  type ReplayProgress,
  type ReplayProgressState,
  type WebhookReplay,
} from '@waypost/domain';
import {
  type OutgoingRecord,
  settleOrAbort,
  type StreamRecord,
  type StreamsBackend,
  type StreamsLogger,
  waitOrAbort,
} from '@waypost/streams';
import type { ReplayMetrics } from '../common/delivery-metrics.js';
import { readIfUsable } from '../common/read-own-record.js';
import { Aborted } from '../common/waits.js';
import type { SubscriptionDirectory } from '../subscriptions/subscription-directory.js';
import { createPacer, type Pacer } from './pacer.js';
import type { ReplayLog, ReplayRecords } from './replay-log.js';
import { selectDeliveries, type Selection } from './select-deliveries.js';
import type { SendingWatch } from './sending-watch.js';

export interface ReplayJobParts {
  readonly backend: StreamsBackend;
  readonly codecs: AvroCodecs;
  readonly directory: Pick<SubscriptionDirectory, 'get' | 'isHeld' | 'caughtUp'>;
  readonly metrics: ReplayMetrics;
  readonly logger: StreamsLogger;
  readonly now: () => number;
  /** The most deliveries of one replay that may be written and not yet sent. */
  readonly maxUnsent: number;
}

export interface ReplayJobContext {
  readonly partition: number;
  readonly log: ReplayLog;
  readonly records: ReplayRecords;
  readonly watch: SendingWatch;
  /** Aborted when the task closes. */
  readonly signal: AbortSignal;
}

/** Deliveries per transaction, so that a cancel and other replays never wait long. */
const MAX_CHUNK = 500;
const MAX_CHUNK_BYTES = 1_048_576;
const ROOM_POLL_MS = 50;
/** A quarter of `maxUnsent` must be free before more is written: few large transactions instead of many small ones. */
const ROOM_FRACTION = 4;

/**
 * One running replay. Its deliveries and its progress are written in one transaction, and its selection depends on
 * the log alone, so that a successor writes the rest after a crash and nothing twice.
 */
export class ReplayJob {
  private selection: Selection | null = null;
  private readonly pacer: Pacer;
  /** Aborted when the replay is cancelled, isAbandoned or without a subscription. */
  private readonly halt = new AbortController();
  private readonly signal: AbortSignal;
  private isAbandoned = false;
  /** Where reading continues; ahead of the committed progress where nothing is selected. */
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
    return this.isAbandoned || (this.progress !== null && isReplayOver(this.progress));
  }

  /** The last committed progress; null: none yet, or abandoned. */
  get committed(): ReplayProgress | null {
    return this.isAbandoned ? null : this.progress;
  }

  /** Takes a newer version; the only possible change is the cancel. */
  update(replay: WebhookReplay): void {
    this.replay = replay;
    if (replay.cancelled) this.halt.abort(new Aborted());
  }

  /** Its record was deleted: it ends and leaves nothing behind. */
  abandon(): void {
    this.isAbandoned = true;
    this.halt.abort(new Aborted());
  }

  /** Runs until it is over or has to yield. Throws Aborted when the task closes. */
  async run(mayContinue: () => boolean): Promise<void> {
    try {
      if (!this.isCancelled()) await this.work(() => mayContinue() && !this.isCancelled());
    } catch (error) {
      if (!(error instanceof Aborted) || this.context.signal.aborted) throw error;
    }
    if (!this.isOver && this.isCancelled()) await this.end('cancelled');
    if (this.isOver) this.context.watch.forget(this.replayId);
  }

  private async work(mayContinue: () => boolean): Promise<void> {
    // The subscription may be newer than what this instance has read.
    await settleOrAbort(this.parts.directory.caughtUp(), this.signal);
    if (this.isDeleted()) {
      this.halt.abort(new Aborted());
      return;
    }
    const selection = await this.begin();
    await this.emit(selection, mayContinue);
  }

  private isCancelled(): boolean {
    return this.halt.signal.aborted || this.replay.cancelled || (this.progress !== null && this.isDeleted());
  }

  /** While the subscription is paused or disabled the replay waits. */
  private isActive(): boolean {
    return this.parts.directory.get(this.replay.subscriptionId)?.status === 'active';
  }

  private isDeleted(): boolean {
    const { directory } = this.parts;
    const id = this.replay.subscriptionId;
    return directory.get(id) === undefined && !directory.isHeld(id);
  }

  private async begin(): Promise<Selection> {
    const { backend } = this.parts;
    const { partition, watch } = this.context;
    await watch.follow(this.replayId, this.subscriptionId);
    if (this.progress === null) {
      const attemptsEnd = await backend.endOffset({ topic: topics.webhookAttempts.name, partition });
      await this.save({ ...this.initialProgress(), attemptsEnd });
    }
    const { attemptsEnd } = this.current();
    this.selection ??= await selectDeliveries({ ...this.parts, partition }, this.replay, attemptsEnd, this.signal);
    const { matched } = this.selection;
    if (this.current().matched === null) await this.save({ ...this.current(), matched });
    return this.selection;
  }

  private async emit(selection: Selection, mayContinue: () => boolean): Promise<void> {
    const { backend } = this.parts;
    const log = { topic: topics.webhookDeliveries.name, partition: this.context.partition };
    // Retention may have deleted the oldest part of the log meanwhile, with selected deliveries.
    const from = Math.max(selection.first, await backend.startOffset(log));
    this.position = Math.max(this.position, this.current().nextDeliveryOffset, from);
    const fetcher = backend.fetcher();
    try {
      const feed = selection.matched > 0 && this.position <= selection.last ? fetcher.open(log, this.position) : null;
      while (feed && this.position <= selection.last && mayContinue()) {
        const batch = await settleOrAbort(feed.next(), this.signal);
        const due = batch.records.filter(({ offset }) => offset >= this.position && selection.has(offset));
        if (!(await this.writeAll(due, mayContinue))) return;
        this.position = batch.nextOffset;
      }
    } finally {
      await fetcher.close();
    }
    if (this.position > selection.last) await this.end('completed');
  }

  /** @returns false when it had to yield before the end */
  private async writeAll(due: readonly StreamRecord[], mayContinue: () => boolean): Promise<boolean> {
    await resolveBatch(this.parts.codecs.webhookDeliveries, due);
    for (let done = 0; done < due.length;) {
      const allowed = await this.allowance(Math.min(MAX_CHUNK, due.length - done), mayContinue);
      if (allowed === 0) return false;
      const chunk = withinBytes(due.slice(done, done + allowed));
      this.pacer.giveBack(allowed - chunk.length);
      await this.write(chunk);
      done += chunk.length;
    }
    return true;
  }

  /** How many may be written now; waits until at least one may. 0: it has to yield. */
  private async allowance(wanted: number, mayContinue: () => boolean): Promise<number> {
    const { maxUnsent } = this.parts;
    while (mayContinue() && !this.signal.aborted) {
      const room = maxUnsent - this.context.watch.unsent(this.replayId);
      const hasRoom = this.isActive() && room >= Math.min(wanted, maxUnsent / ROOM_FRACTION);
      const taken = hasRoom ? this.pacer.take(Math.min(wanted, room)) : 0;
      if (taken > 0) return taken;
      await waitOrAbort(hasRoom ? this.pacer.waitMs(Math.min(wanted, room)) : ROOM_POLL_MS, this.signal);
    }
    return 0;
  }

  private async write(chunk: readonly StreamRecord[]): Promise<void> {
    const { codecs, metrics, now } = this.parts;
    const last = chunk.at(-1);
    if (!last) return;
    const target = { topic: topics.webhookDeliveries.name, partition: this.context.partition };
    const nowMs = now();
    const deliveries = chunk.flatMap(({ key, value }) => {
      const delivery = readIfUsable(codecs.webhookDeliveries, value);
      if (delivery === null) return [];
      return { ...target, key, value: codecs.webhookDeliveries.encode(replayedDelivery(delivery, this.replay, nowMs)) };
    });
    const count = deliveries.length;
    const { sent } = this.current();
    // Before the commit: the sender may be faster than the response of the broker.
    this.context.watch.written(this.replayId, count);
    await this.save({ ...this.current(), nextDeliveryOffset: last.offset + 1, sent: sent + count }, deliveries);
    this.position = last.offset + 1;
    metrics.deliveriesReplayed(count);
  }

  private async end(state: ReplayProgressState): Promise<void> {
    await this.save({ ...(this.progress ?? this.initialProgress()), state });
    const { replayId, subscriptionId, series } = this.replay;
    const { matched, sent } = this.current();
    this.parts.logger.info('replay_ended', { replayId, subscriptionId, series, state, matched, sent });
  }

  /** Commits the progress together with the deliveries. */
  private async save(progress: ReplayProgress, deliveries: readonly OutgoingRecord[] = []): Promise<void> {
    const next = { ...progress, updatedAt: this.parts.now() };
    await this.context.log.write([...deliveries, this.context.records.progress(next)]);
    this.progress = next;
  }

  private current(): ReplayProgress {
    if (!this.progress) throw new Error('The replay has not begun.');
    return this.progress;
  }

  private initialProgress(): ReplayProgress {
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

/** As many records from the front as one transaction should hold; at least one. */
function withinBytes(records: readonly StreamRecord[]): readonly StreamRecord[] {
  let bytes = 0;
  const end = records.findIndex(({ value }) => (bytes += value?.length ?? 0) > MAX_CHUNK_BYTES);
  return end < 0 ? records : records.slice(0, Math.max(1, end));
}
