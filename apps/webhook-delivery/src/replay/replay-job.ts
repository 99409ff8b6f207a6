import { type AvroCodecs, resolveBatch, topics } from '@waypost/contracts';
import {
  isReplayOver,
  MINUTE_MS,
  replayedDelivery,
  type ReplayProgress,
  type ReplayProgressState,
  type WebhookReplay,
} from '@waypost/domain';
import type { OutgoingRecord, StreamRecord, StreamsBackend, StreamsError, StreamsLogger } from '@waypost/streams';
import { settleOrAbort, waitOrAbort } from '@waypost/streams/admin';
import type { ReplayMetrics } from '../metrics/delivery-metrics.js';
import { readIfUsable } from '../process/read-own-record.js';
import { Aborted } from '../process/waits.js';
import { isDeleted, type SubscriptionDirectory } from '../subscriptions/subscription-directory.js';
import { GoneDeliveries, type OriginalDelivery } from './gone-deliveries.js';
import { ReplayAllowance } from './replay-allowance.js';
import type { ReplayLog, ReplayRecords } from './replay-log.js';
import { DeliverySelecting, type Selection } from './select-deliveries.js';
import type { HeldSelection, SelectionMemory } from './selection-memory.js';
import type { SendingWatch } from './sending-watch.js';

export interface ReplayJobDeps {
  readonly backend: StreamsBackend;
  readonly codecs: AvroCodecs;
  readonly directory: Pick<SubscriptionDirectory, 'get' | 'isPaused' | 'caughtUp'>;
  readonly metrics: ReplayMetrics;
  readonly logger: StreamsLogger;
  readonly nowMs: () => number;
  readonly monotonicMs: () => number;
  /** The maximum number of unsent deliveries per replay. */
  readonly maxUnsent: number;
  /** Shared by all replays of the process. */
  readonly selections: Pick<SelectionMemory, 'hold'>;
}

export interface ReplayJobContext {
  readonly partition: number;
  readonly log: ReplayLog;
  readonly records: ReplayRecords;
  readonly watch: SendingWatch;
  /** When the first other replay of the subscription began; null: there was none. */
  readonly replayedFrom: (replay: Pick<WebhookReplay, 'replayId' | 'subscriptionId'>) => number | null;
  /** Aborted when the task closes. */
  readonly signal: AbortSignal;
}

/** A time slice in which a replay has one of the places of its partition. */
export interface ReplayTurn {
  /** Called while there is something to do. */
  readonly mayContinue: () => boolean;
  /** Called before a wait for the sender or the subscription: false while another replay could use the place. */
  readonly mayWait: () => boolean;
}

/** Deliveries per transaction, small enough that a cancel and other replays never wait long. */
const MAX_CHUNK = 500;
const MAX_CHUNK_BYTES = 1_048_576;
/** A damaged batch may be intact on the next leader, and retention eventually deletes it. */
const ASIDE_MS = 5 * MINUTE_MS;

/**
 * One running replay. Its deliveries and its progress are written in one transaction, and its selection depends
 * on the log alone, so a successor writes the rest after a crash and nothing twice.
 */
export class ReplayJob {
  private selecting: DeliverySelecting | null = null;
  private selection: Selection | null = null;
  private gone: GoneDeliveries | null = null;
  private readonly memory: HeldSelection;
  private readonly allowance: ReplayAllowance;
  /** Aborted when the replay is cancelled or abandoned, or its subscription is deleted. */
  private readonly halt = new AbortController();
  private readonly signal: AbortSignal;
  private isAbandoned = false;
  /** Where reading continues; ahead of the committed progress where nothing is selected. */
  private position = 0;
  /** Monotonic: until then it runs only to be cancelled. */
  private asideUntilMs = -Infinity;

  constructor(
    private readonly deps: ReplayJobDeps,
    private readonly context: ReplayJobContext,
    private replay: WebhookReplay,
    private progress: ReplayProgress | null,
  ) {
    this.memory = deps.selections.hold(replay.fleetId);
    this.allowance = new ReplayAllowance({
      ...deps,
      ratePerSecond: replay.ratePerSecond,
      unsent: () => context.watch.unsent(replay.replayId),
      // The replay waits while the subscription is paused or disabled.
      isActive: () => deps.directory.get(replay.subscriptionId)?.status === 'active',
    });
    this.signal = AbortSignal.any([context.signal, this.halt.signal]);
  }

  get replayId(): string {
    return this.replay.replayId;
  }

  get fleetId(): string {
    return this.replay.fleetId;
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

  /** A cancel is the only possible change. */
  update(replay: WebhookReplay): void {
    this.replay = replay;
    if (replay.cancelled) this.halt.abort(new Aborted());
  }

  /** Ends the replay without a trace: its record was deleted. */
  abandon(): void {
    this.isAbandoned = true;
    this.halt.abort(new Aborted());
    // If it has yielded, it does not run again to do so.
    this.context.watch.forget(this.replayId);
    this.release();
  }

  /** Call when the job will not run again. */
  release(): void {
    this.memory.release();
  }

  /** Sets the job aside when it needs a batch that cannot be decoded: neither other replays nor the partition have to wait. */
  setAside({ code, offset, message }: StreamsError): void {
    const { monotonicMs, logger } = this.deps;
    this.asideUntilMs = monotonicMs() + ASIDE_MS;
    this.memory.waits();
    const { replayId, subscriptionId } = this.replay;
    logger.error('replay_set_aside', { replayId, subscriptionId, reason: code, offset, error: message });
  }

  /** False while it could only wait: for its subscription, the sender, its rate or memory, or because it is set aside. */
  canGoOn(): boolean {
    if (this.isCancelled()) return true;
    if (this.deps.monotonicMs() < this.asideUntilMs) return false;
    return this.selection === null ? this.memory.mayGrow() : this.allowance.waitMs() === 0;
  }

  /** Runs until the replay is over or has to yield. @throws Aborted when the task closes */
  async run({ mayContinue, mayWait }: ReplayTurn): Promise<void> {
    try {
      if (!this.isCancelled()) await this.work({ mayContinue: () => mayContinue() && !this.isCancelled(), mayWait });
    } catch (error) {
      if (!(error instanceof Aborted) || this.context.signal.aborted) throw error;
    }
    if (!this.isOver && this.isCancelled()) await this.end('cancelled');
    if (!this.isOver) return;
    this.context.watch.forget(this.replayId);
    this.release();
  }

  private async work(turn: ReplayTurn): Promise<void> {
    // The subscription may be newer than what this instance has read.
    await settleOrAbort(this.deps.directory.caughtUp(), this.signal);
    if (this.isDeleted()) {
      this.halt.abort(new Aborted());
      return;
    }
    const selection = await this.begin(turn);
    if (selection) await this.emit(selection, turn);
  }

  private isCancelled(): boolean {
    return this.halt.signal.aborted || this.replay.cancelled || (this.progress !== null && this.isDeleted());
  }

  private isDeleted(): boolean {
    return isDeleted(this.deps.directory, this.replay.subscriptionId);
  }

  /** @returns null: it had to yield before the end of its selection */
  private async begin({ mayContinue }: ReplayTurn): Promise<Selection | null> {
    const { backend } = this.deps;
    const { partition, watch } = this.context;
    await watch.follow(this.replayId, this.subscriptionId);
    if (this.progress === null) {
      const attemptsEnd = await backend.endOffset({ topic: topics.webhookAttempts.name, partition });
      await this.save({ ...this.initialProgress(), attemptsEnd });
    }
    const { attemptsEnd } = this.current();
    this.selection ??= await this.select(attemptsEnd, mayContinue);
    if (this.selection === null) return null;
    const { matched } = this.selection;
    if (this.current().matched === null) await this.save({ ...this.current(), matched });
    return this.selection;
  }

  private async select(attemptsEnd: number, mayContinue: () => boolean): Promise<Selection | null> {
    const { memory } = this;
    if (!memory.mayGrow()) return null;
    const { partition, replayedFrom } = this.context;
    const selecting = (this.selecting ??= new DeliverySelecting({ ...this.deps, partition }, this.replay, {
      attemptsEnd,
      replayedFrom: replayedFrom(this.replay),
    }));
    memory.grewTo(selecting.bytes);
    const hasRoom = () => {
      memory.grewTo(selecting.bytes);
      return memory.mayGrow();
    };
    const selection = await selecting.advance(() => hasRoom() && mayContinue(), this.signal);
    if (selection === null) return null;
    memory.isWhole(selection.bytes);
    // The knowledge of other series is no longer needed.
    this.selecting = null;
    return selection;
  }

  private async emit(selection: Selection, turn: ReplayTurn): Promise<void> {
    const { backend } = this.deps;
    const log = { topic: topics.webhookDeliveries.name, partition: this.context.partition };
    this.position = Math.max(this.position, this.current().nextDeliveryOffset, selection.first);
    const logStart = await backend.startOffset(log);
    if (!(await this.emitGone(selection, logStart, turn))) return;
    this.position = Math.max(this.position, logStart);
    const fetcher = backend.fetcher();
    try {
      const feed = selection.matched > 0 && this.position <= selection.last ? fetcher.open(log, this.position) : null;
      while (feed && this.position <= selection.last && turn.mayContinue()) {
        const batch = await settleOrAbort(feed.next(), this.signal);
        const due = batch.records.filter(({ offset }) => offset >= this.position && selection.has(offset));
        if (!(await this.writeAll(await this.readAll(due), turn))) return;
        this.position = batch.nextOffset;
      }
    } finally {
      await fetcher.close();
    }
    if (this.position > selection.last) await this.end('completed');
  }

  /** Sends selected deliveries from the part of the log that retention may have deleted. @returns false if it had to yield */
  private async emitGone(selection: Selection, logStart: number, turn: ReplayTurn): Promise<boolean> {
    const { partition } = this.context;
    const { attemptsEnd } = this.current();
    while (this.position < Math.min(logStart, selection.last + 1)) {
      const options = { replay: this.replay, selection, attemptsEnd, from: this.position, end: logStart };
      this.gone ??= new GoneDeliveries({ ...this.deps, partition }, options);
      const portion = await this.gone.portion(turn.mayContinue, this.signal);
      if (portion === null) return false;
      const due = portion.deliveries.filter(({ offset }) => offset >= this.position);
      if (!(await this.writeAll(due, turn))) return false;
      this.gone = null;
      this.position = portion.end;
    }
    return true;
  }

  private async readAll(records: readonly StreamRecord[]): Promise<OriginalDelivery[]> {
    const codec = this.deps.codecs.webhookDeliveries;
    await resolveBatch(codec, records);
    return records.flatMap(({ offset, value }) => {
      const delivery = readIfUsable(codec, value);
      return delivery === null ? [] : { offset, delivery };
    });
  }

  /** @returns false if it had to yield before the end */
  private async writeAll(due: readonly OriginalDelivery[], turn: ReplayTurn): Promise<boolean> {
    for (let done = 0; done < due.length;) {
      const allowed = await this.allowed(Math.min(MAX_CHUNK, due.length - done), turn);
      if (allowed === 0) return false;
      const chunk = withinBytes(due.slice(done, done + allowed));
      this.allowance.giveBack(allowed - chunk.length);
      await this.write(chunk);
      done += chunk.length;
    }
    return true;
  }

  /** How many may be written now; waits until at least one may. 0: it has to yield. */
  private async allowed(wanted: number, { mayContinue, mayWait }: ReplayTurn): Promise<number> {
    while (mayContinue() && !this.signal.aborted) {
      const taken = this.allowance.take(wanted);
      if (taken > 0) return taken;
      // A replay that waits only for its rate keeps its place: yielding costs a connection and re-reading the batch.
      if (this.allowance.isBlocked() && !mayWait()) return 0;
      await waitOrAbort(this.allowance.waitMs(), this.signal);
    }
    return 0;
  }

  private async write(chunk: readonly OriginalDelivery[]): Promise<void> {
    const { codecs, metrics } = this.deps;
    const last = chunk.at(-1);
    if (!last) return;
    const target = { topic: topics.webhookDeliveries.name, partition: this.context.partition };
    const nowMs = this.deps.nowMs();
    const key = Buffer.from(this.subscriptionId);
    const deliveries = chunk.map(({ delivery }) => {
      const value = codecs.webhookDeliveries.encode(replayedDelivery(delivery, this.replay, nowMs));
      return { ...target, key, value };
    });
    const count = deliveries.length;
    const { sent } = this.current();
    // Count before the commit: the sender may be faster than the response of the broker.
    this.context.watch.written(this.replayId, count);
    await this.save({ ...this.current(), nextDeliveryOffset: last.offset + 1, sent: sent + count }, deliveries);
    this.position = last.offset + 1;
    metrics.deliveriesReplayed(count);
  }

  private async end(state: ReplayProgressState): Promise<void> {
    await this.save({ ...(this.progress ?? this.initialProgress()), state });
    const { replayId, subscriptionId, series } = this.replay;
    const { matched, sent } = this.current();
    this.deps.logger.info('replay_ended', { replayId, subscriptionId, series, state, matched, sent });
  }

  private async save(progress: ReplayProgress, deliveries: readonly OutgoingRecord[] = []): Promise<void> {
    const next = { ...progress, updatedAt: this.deps.nowMs() };
    await this.context.log.write([...deliveries, this.context.records.progress(next)]);
    this.progress = next;
  }

  private current(): ReplayProgress {
    if (!this.progress) throw new Error('The replay has not begun.');
    return this.progress;
  }

  private initialProgress(): ReplayProgress {
    const nowMs = this.deps.nowMs();
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

/** The first deliveries, as many as one transaction should hold; at least one. */
function withinBytes(due: readonly OriginalDelivery[]): readonly OriginalDelivery[] {
  let bytes = 0;
  const end = due.findIndex(({ delivery }) => (bytes += Buffer.byteLength(delivery.body)) > MAX_CHUNK_BYTES);
  return end < 0 ? due : due.slice(0, Math.max(1, end));
}
