import { setMaxListeners } from 'node:events';
import {
  resolveBatch,
  consumerGroups,
  type AvroCodecs,
  type WebhookAttempt,
  type WebhookDelivery,
} from '@waypost/contracts';
import { decideAttempt, deliveryFold, DELIVERY_UNSTARTED } from '@waypost/domain';
import {
  type PartitionTask,
  type RecordBatch,
  type StreamsBackend,
  type StreamsLogger,
  type TaskContext,
  type TransactionalProducer,
} from '@waypost/streams';
import type { AttemptRunner } from '../attempt/attempt-runner.js';
import type { DeliveryMetrics } from '../delivery-metrics.js';
import { createAttemptLog, type AttemptLog } from './attempt-log.js';
import { attemptRecord } from './attempt-record.js';
import {
  createDeliveryWindow,
  type CommitPoint,
  type DeliveryWindow,
  type PendingDelivery,
} from './delivery-window.js';
import { createDueTimers, type DueTimers, type TimerPort } from './due-timers.js';
import { readDelivery } from './read-delivery.js';
import { recoverProgress, type RecoveredProgress } from './recover-progress.js';
import { senderPosition } from './sender-position.js';
import type { Turns } from './turns.js';

export interface DeliveryTaskParts {
  readonly backend: StreamsBackend;
  readonly codecs: AvroCodecs;
  readonly runner: AttemptRunner;
  readonly turns: Turns;
  readonly timers: TimerPort;
  readonly metrics: DeliveryMetrics;
  readonly logger: StreamsLogger;
  readonly now: () => number;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /** Unfinished deliveries of one partition held in memory; beyond, reading waits. */
  readonly maxPending: number;
  /** How long attempts in flight may go on when the task closes. */
  readonly closeGraceMs: number;
}

/**
 * Sends the deliveries of one partition. A delivery lies in the log before its first POST; each attempt
 * is committed to the attempts log before the next one starts, so a crash can repeat only the attempt in flight, and
 * a process that lost the partition is fenced from writing.
 */
export const createDeliveryTask = (parts: DeliveryTaskParts, context: TaskContext): PartitionTask =>
  new DeliveryTask(parts, context);

class DeliveryTask implements PartitionTask {
  private producer: TransactionalProducer | null = null;
  private readonly dueTimers: DueTimers;
  private readonly abort = new AbortController();
  private readonly inFlight = new Set<Promise<void>>();
  private window: DeliveryWindow | null = null;
  private log: AttemptLog | null = null;
  private recovered: RecoveredProgress | null = null;
  private recoveredFrom = 0;
  private closing = false;
  private roomWanted: (() => void) | null = null;

  constructor(
    private readonly parts: DeliveryTaskParts,
    private readonly context: TaskContext,
  ) {
    this.dueTimers = createDueTimers(parts.timers, parts.now);
    setMaxListeners(0, this.abort.signal); // one for each attempt in flight
  }

  async open(): Promise<{ position: number }> {
    const { backend, logger } = this.parts;
    const { partition } = this.context;
    this.producer = backend.producer(`${consumerGroups.sender.id}.${String(partition)}`);
    await this.producer.init();
    await this.context.confirmOwnership();
    const start = await senderPosition(backend, this.context);
    const recovered = await recoverProgress(this.parts, partition, {
      foldFrom: start.foldFrom,
      deliveryOffset: start.offset,
    });
    logger.info('sender_recovered', {
      partition,
      position: start.offset,
      foldFrom: start.foldFrom,
      known: recovered.byDelivery.size,
    });
    this.recovered = recovered;
    this.recoveredFrom = start.foldFrom;
    this.window = createDeliveryWindow(start);
    this.log = this.createLog(this.producer, this.window, start, recovered.attemptsEnd);
    return { position: start.offset };
  }

  async process(batch: RecordBatch): Promise<void> {
    const { codecs, maxPending } = this.parts;
    const { window, log } = this.opened();
    await resolveBatch(codecs.webhookDeliveries, batch.records);
    for (const { offset, value } of batch.records) this.admit(offset, readDelivery(codecs, value));
    window.advanceTo(batch.nextOffset, this.foldFromFor(batch.nextOffset));
    log.commitPosition();
    while (window.pending > maxPending && !this.closing) await this.room();
  }

  idle(): Promise<void> {
    this.log?.commitPosition();
    return Promise.resolve();
  }

  interrupt(): void {
    this.closing = true;
    this.roomWanted?.();
  }

  /** Attempts in flight may end and be logged; what is not done by then is the successor's to repeat. */
  async close(): Promise<void> {
    this.interrupt();
    this.dueTimers.clear();
    const giveUp = this.parts.timers.after(this.parts.closeGraceMs, () => {
      this.abort.abort();
    });
    await Promise.all(this.inFlight);
    giveUp();
    await this.log?.drained();
    if (this.window) this.parts.metrics.pendingChanged(-this.window.pending);
    await this.producer?.close();
  }

  private opened(): { window: DeliveryWindow; log: AttemptLog } {
    if (!this.window || !this.log) throw new Error('process() came before open().');
    return { window: this.window, log: this.log };
  }

  private createLog(
    producer: TransactionalProducer,
    window: DeliveryWindow,
    committed: CommitPoint,
    attemptsEnd: number,
  ): AttemptLog {
    return createAttemptLog({
      producer,
      codecs: this.parts.codecs,
      partition: this.context.partition,
      attemptsEnd,
      committed,
      commitPoint: () => window.commitPoint(),
      onFailure: (error) => {
        this.closing = true;
        this.abort.abort();
        this.context.fail(error);
      },
    });
  }

  /** Deliveries that the predecessor had begun are folded from where it began; later ones from the log's present end. */
  private foldFromFor(offset: number): number {
    const { log } = this.opened();
    const begun = this.recovered !== null && offset <= this.recovered.lastDelivery;
    if (!begun) this.recovered = null;
    return begun ? this.recoveredFrom : log.attemptsEnd;
  }

  private admit(offset: number, delivery: WebhookDelivery): void {
    const progress = this.recovered?.byDelivery.get(offset) ?? DELIVERY_UNSTARTED;
    const foldFrom = this.foldFromFor(offset);
    if (progress.type === 'finished') return;
    this.opened().window.admit(offset, foldFrom);
    this.parts.metrics.pendingChanged(1);
    const dueAt = progress.type === 'pending' ? progress.dueAt : this.parts.now();
    this.schedule({ offset, delivery, progress, dueAt });
  }

  private schedule(pending: PendingDelivery): void {
    this.dueTimers.at(pending.dueAt, () => {
      this.parts.turns.enqueue(pending.delivery.subscriptionId, { run: () => this.attempt(pending) });
    });
  }

  private attempt(pending: PendingDelivery): Promise<void> {
    if (this.closing) return Promise.resolve();
    const running = this.runAttempt(pending).catch((error: unknown) => {
      this.context.fail(error instanceof Error ? error : new Error(String(error)));
    });
    this.inFlight.add(running);
    return running.finally(() => this.inFlight.delete(running));
  }

  /** A process that was stopped for a while must not POST what its successor has sent meanwhile: it asks first. */
  private async stillOurs(): Promise<boolean> {
    if (this.context.leaseValid()) return true;
    return this.context.confirmOwnership().then(
      () => !this.closing,
      () => false,
    );
  }

  private async runAttempt(pending: PendingDelivery): Promise<void> {
    const { runner, now, random } = this.parts;
    const { delivery, progress, dueAt } = pending;
    const known = progress.type === 'pending' ? progress : null;
    const attempt = known?.nextAttempt ?? 1;
    if (!(await this.stillOurs())) return;
    const startedAt = now();
    const run = await runner.run({ delivery, attempt, startedAt, signal: this.abort.signal });
    if (run.type === 'aborted') return;
    const { result, auth, url } = run;
    const endedAt = now();
    const unauthorizedBefore = known?.unauthorizedBefore ?? false;
    const decision = decideAttempt({ attempt, result, auth, unauthorizedBefore, endedAt, random: random() });
    if (decision.outcome !== 'delivered' && decision.renewToken) run.discardToken();
    const firstAttemptAt = known?.firstAttemptAt ?? startedAt;
    const times = { dueAt, startedAt, endedAt, firstAttemptAt };
    const about = { delivery, deliveryOffset: pending.offset, url, attempt, result, decision };
    await this.record(pending, attemptRecord({ ...about, ...times }));
  }

  /** The turn ends when the attempt is durable, so what a crash can repeat stays within the caps in flight. */
  private async record(pending: PendingDelivery, attempt: WebhookAttempt): Promise<void> {
    const { window, log } = this.opened();
    this.tell(attempt);
    const finished = attempt.outcome !== 'retrying';
    const durable = await log.append(attempt, Buffer.from(attempt.subscriptionId), () => {
      if (finished) this.finish(window, pending.offset);
    });
    if (!durable) return;
    if (finished) this.roomWanted?.();
    else this.retry(pending, attempt);
  }

  private tell(record: WebhookAttempt): void {
    const { eventId, subscriptionId, attempt, outcome, decision, statusCode, errorCode, durationMs } = record;
    const latenessMs = record.startedAt - record.dueAt;
    this.parts.metrics.attemptEnded({ outcome, durationMs, latenessMs });
    const fields = {
      eventId,
      subscriptionId,
      attempt,
      outcome,
      decision,
      statusCode,
      errorCode,
      durationMs,
      latenessMs,
    };
    this.parts.logger[outcome === 'delivered' ? 'debug' : 'info']('delivery_attempted', fields);
  }

  private finish(window: DeliveryWindow, offset: number): void {
    window.finish(offset);
    this.parts.metrics.pendingChanged(-1);
  }

  private retry(pending: PendingDelivery, attempt: WebhookAttempt): void {
    pending.progress = deliveryFold(pending.progress, attempt);
    pending.dueAt = attempt.nextDueAt ?? attempt.startedAt;
    this.schedule(pending);
  }

  private room(): Promise<void> {
    return new Promise((resolve) => {
      this.roomWanted = () => {
        this.roomWanted = null;
        resolve();
      };
    });
  }
}
