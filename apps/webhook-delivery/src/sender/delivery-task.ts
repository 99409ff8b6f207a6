import { setImmediate as nextTurn } from 'node:timers/promises';
import { consumerGroups, resolveBatch, topics, type AvroCodecs } from '@waypost/contracts';
import { DELIVERY_UNSTARTED } from '@waypost/domain';
import {
  slicesOf,
  type FencedWriter,
  type PartitionTask,
  type RecordBatch,
  type StreamRecord,
  type StreamsBackend,
  type StreamsLogger,
  type TaskContext,
} from '@waypost/streams';
import type { AttemptRunner } from '../attempt/attempt-runner.js';
import type { DeliveryMetrics } from '../delivery-metrics.js';
import type { SubscriptionDirectory } from '../subscriptions/subscription-directory.js';
import { createAttemptFlow, type AttemptFlow } from './attempt-flow.js';
import { createAttemptLog, type AttemptLog } from './attempt-log.js';
import { createCatchUp, type CatchUp } from './catch-up.js';
import type { TimerPort } from './due-timers.js';
import type { FlushClock } from '../writing/flush-clock.js';
import { createOutage, type Outage } from './outage.js';
import { PartitionQueues, type QueueLimits } from './partition-queues.js';
import { createPositionKeeper, type PositionKeeper } from '../writing/position-keeper.js';
import { readDelivery } from './read-delivery.js';
import { recoverSender, type RecoveredSender } from './recover-sender.js';
import { createStateRecords, type StateRecords } from './state-records.js';
import type { PendingDelivery, SubscriptionQueue } from './subscription-queue.js';
import type { Turns } from './turns.js';

export interface DeliveryTaskParts {
  readonly backend: StreamsBackend;
  readonly codecs: AvroCodecs;
  readonly directory: Pick<SubscriptionDirectory, 'get'>;
  readonly runner: AttemptRunner;
  readonly turns: Turns;
  readonly clock: FlushClock;
  readonly timers: TimerPort;
  readonly metrics: DeliveryMetrics;
  readonly logger: StreamsLogger;
  readonly now: () => number;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /** Of each partition. */
  readonly limits: QueueLimits;
  /** How long attempts in flight may go on when the task closes. */
  readonly closeGraceMs: number;
}

/**
 * Sends the deliveries of one partition. A delivery lies in the log before its first POST; each attempt
 * is in the attempts log before the next one of its delivery starts, so a crash can repeat only what is in flight, and
 * the broker refuses what a process writes that has lost the partition.
 */
export const createDeliveryTask = (parts: DeliveryTaskParts, context: TaskContext): PartitionTask =>
  new DeliveryTask(parts, context);

/** What a task is made of once it knows where it goes on. */
interface Work {
  readonly queues: PartitionQueues;
  readonly recovered: RecoveredSender;
  readonly log: AttemptLog;
  readonly states: StateRecords;
  readonly flow: AttemptFlow;
  readonly outage: Outage;
  readonly catchUp: CatchUp;
  readonly position: PositionKeeper;
}

const SLICE_RECORDS = 250;

class DeliveryTask implements PartitionTask {
  private writer: FencedWriter | null = null;
  private work: Work | null = null;
  private isClosing = false;

  constructor(
    private readonly parts: DeliveryTaskParts,
    private readonly context: TaskContext,
  ) {}

  async open(): Promise<{ position: number }> {
    const { partition } = this.context;
    const written = [topics.webhookAttempts, topics.subscriptionState, topics.webhookOperations];
    this.writer = this.parts.backend.fencedWriter(
      `${consumerGroups.sender.id}.${String(partition)}`,
      written.map(({ name: topic }) => ({ topic, partition })),
    );
    // First: what is read afterwards is final, since nobody but us can write any more.
    await this.writer.init();
    await this.context.confirmOwnership();
    const recovered = await recoverSender(this.parts, this.context);
    this.work = this.createWork(this.writer, recovered);
    this.restoreQueues(this.work);
    return { position: recovered.start.offset };
  }

  async process(batch: RecordBatch): Promise<void> {
    const { queues } = this.opened();
    for (const slice of slicesOf(batch, SLICE_RECORDS)) {
      if (this.isClosing) return;
      await resolveBatch(this.parts.codecs.webhookDeliveries, slice);
      for (const record of slice) this.offer(record);
      queues.position = (slice.at(-1)?.offset ?? queues.position - 1) + 1;
      await nextTurn();
    }
    queues.position = batch.nextOffset;
    this.lookAround();
  }

  idle(): Promise<void> {
    this.lookAround();
    return Promise.resolve();
  }

  revoke(): void {
    this.isClosing = true;
    this.work?.flow.stop();
    void this.work?.position.stop();
  }

  /** Attempts in flight may end and be logged; what is not done by then is the successor's to repeat. */
  async close(): Promise<void> {
    this.revoke();
    const { work } = this;
    if (work) await this.closeWork(work);
    await this.writer?.close();
  }

  private async closeWork({ flow, log, outage, catchUp, queues, position }: Work): Promise<void> {
    outage.close();
    const giveUp = this.parts.timers.after(this.parts.closeGraceMs, () => {
      flow.abort();
    });
    await Promise.all([flow.settled(), catchUp.close(), position.stop()]);
    giveUp();
    await log.drained();
    this.parts.metrics.pendingChanged(-queues.pending);
    this.parts.metrics.parkedChanged(-queues.behind.size);
  }

  private lookAround(): void {
    const { states, log, position, catchUp } = this.opened();
    if (states.areDue()) log.wake();
    position.moved();
    catchUp.kick();
  }

  private opened(): Work {
    if (!this.work) throw new Error('The task was not opened.');
    return this.work;
  }

  private createWork(writer: FencedWriter, recovered: RecoveredSender): Work {
    const { parts, context } = this;
    const { codecs, backend, limits, now, logger } = parts;
    const { partition } = context;
    const { start, begun } = recovered;
    const onFailure = (error: Error): void => {
      this.fail(error);
    };
    const log = createAttemptLog({
      ...{ writer, codecs, partition, clock: parts.clock, attemptsEnd: recovered.attemptsEnd, onFailure },
      states: () => states.collect(),
      onFlushed: () => {
        position.moved();
      },
    });
    const queues = new PartitionQueues({ limits, start, begun, attemptsEnd: () => log.attemptsEnd });
    const states = createStateRecords({ queues, codecs, partition, now });
    const flow = createAttemptFlow({
      ...{ context, log, outage: () => outage, ...pickFlowParts(parts) },
      onFinished: (pending) => {
        this.finished(pending);
      },
    });
    const outage = createOutage({
      ...{ directory: parts.directory, log, states, timers: parts.timers, metrics: parts.metrics, now },
      hold: (queue) => {
        flow.hold(queue);
      },
      release: (queue) => {
        flow.release(queue);
      },
      probe: (queue) => {
        flow.probe(queue);
      },
    });
    const take = (queue: SubscriptionQueue, offset: number, value: Buffer | null): void => {
      this.take(queue, offset, value);
    };
    const catchUp = createCatchUp({
      ...{ backend, codecs, partition, queues, take, onFailure },
      onCaughtUp: () => {
        parts.metrics.parkedChanged(-1);
      },
    });
    const position = createPositionKeeper({
      ...{ context, now, logger, committed: { offset: start.offset, metadata: String(start.foldFrom) } },
      position: () => {
        const { offset, foldFrom } = queues.commitPoint();
        return { offset, metadata: String(foldFrom) };
      },
    });
    return { queues, recovered, log, states, flow, outage, catchUp, position };
  }

  private restoreQueues({ queues, recovered, states, outage }: Work): void {
    for (const [subscriptionId, state] of recovered.states) {
      const queue = queues.queue(subscriptionId);
      queue.health = { failingSince: state.failingSince, suspendedAt: state.suspendedAt };
      if (state.parkedFrom !== null) {
        queue.placement = 'detached';
        queues.leaveFrom(queue, state.parkedFrom);
        this.parts.metrics.parkedChanged(1);
      }
      states.recovered(queue, state);
      if (queue.isSuspended) outage.recovered(queue);
    }
    for (const [subscriptionId, begun] of recovered.begunBySubscription) {
      const queue = queues.queue(subscriptionId);
      queue.begunUpTo = begun.upTo;
      queue.begunFoldFrom = begun.foldFrom;
    }
  }

  private offer({ offset, key, value }: StreamRecord): void {
    const { queues, states } = this.opened();
    const queue = queues.queue(key?.toString() ?? '');
    const wasBehind = queue.behindFrom !== null;
    if (queues.offer(queue, offset)) this.take(queue, offset, value);
    else if (!wasBehind) {
      this.parts.metrics.parkedChanged(1);
      states.watch(queue);
    }
  }

  private take(queue: SubscriptionQueue, offset: number, value: Buffer | null): void {
    const { queues, flow, recovered } = this.opened();
    const progress = recovered.byDelivery.get(offset) ?? DELIVERY_UNSTARTED;
    recovered.byDelivery.delete(offset);
    if (progress.type === 'finished') return;
    const delivery = readDelivery(this.parts.codecs, value);
    const dueAt = progress.type === 'pending' ? progress.dueAt : this.parts.now();
    const pending = { queue, offset, delivery, progress, dueAt, isHeld: false };
    queues.admit(pending);
    this.parts.metrics.pendingChanged(1);
    flow.begin(pending);
  }

  private finished(pending: PendingDelivery): void {
    const { queues, catchUp } = this.opened();
    queues.finish(pending);
    this.parts.metrics.pendingChanged(-1);
    if (queues.behind.size > 0) catchUp.kick();
  }

  private fail(error: Error): void {
    this.revoke();
    this.work?.flow.abort();
    this.context.fail(error);
  }
}

const pickFlowParts = ({ runner, turns, timers, metrics, logger, directory, now, random }: DeliveryTaskParts) => ({
  ...{ runner, turns, timers, metrics, logger, directory, now, random },
});
