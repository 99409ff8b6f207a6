import { type AvroCodecs } from '@waypost/contracts';
import type { Quarantine, Traces } from '@waypost/platform';
import {
  type FencedWriter,
  type StreamRecord,
  type StreamsBackend,
  type StreamsLogger,
  type TaskContext,
} from '@waypost/streams';
import type { AttemptRunner } from '../attempt/attempt-runner.js';
import type { FlushScheduler } from '../log/flush-scheduler.js';
import { createPositionCommitter, type PositionCommitter } from '../log/position-committer.js';
import type { DeliveryMetrics } from '../metrics/delivery-metrics.js';
import type { Clocks } from '../process/clocks.js';
import type { TimerPort } from '../process/timers.js';
import type { SubscriptionDirectory } from '../subscriptions/subscription-directory.js';
import { AttemptFlow } from './attempt-flow.js';
import { AttemptLog } from './attempt-log.js';
import { createAttemptTracer } from './attempt-trace.js';
import { CatchUp } from './catch-up.js';
import { DeliveryMemory } from './delivery-memory.js';
import type { DeliveryScheduler } from './delivery-scheduler.js';
import { HeldQueues } from './held-queues.js';
import { Outage } from './outage.js';
import { PartitionQueues, type QueueLimits } from './partition-queues.js';
import { type RecoveredSender } from './recover-sender.js';
import { StateRecords } from './state-records.js';
import type { PendingDelivery, SubscriptionQueue } from './subscription-queue.js';

export interface SenderParts extends Clocks {
  readonly backend: StreamsBackend;
  readonly codecs: AvroCodecs;
  readonly directory: Pick<SubscriptionDirectory, 'get' | 'isPaused' | 'onChange' | 'caughtUp'>;
  readonly runner: AttemptRunner;
  readonly scheduler: DeliveryScheduler;
  readonly flushScheduler: FlushScheduler;
  readonly timers: TimerPort;
  readonly metrics: DeliveryMetrics;
  readonly quarantine: Pick<Quarantine, 'put'>;
  readonly logger: StreamsLogger;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /** Per partition. */
  readonly limits: QueueLimits & { readonly bytes: number };
  /** The memory of all partitions. */
  readonly memory: DeliveryMemory;
  /** How long attempts in flight may continue when the task closes. */
  readonly closeGraceMs: number;
  readonly traces: Traces;
}

/** What a task gives to the parts that it works with. */
export interface SenderWorkOptions {
  readonly parts: SenderParts;
  readonly context: TaskContext;
  readonly writer: FencedWriter;
  readonly recovered: RecoveredSender;
  readonly hasResumed: () => boolean;
  readonly take: (queue: SubscriptionQueue, record: StreamRecord) => Promise<void> | null;
  readonly onFinished: (pending: PendingDelivery) => void;
  readonly onFailure: (error: Error) => void;
}

/** The parts of an open task. They call each other, so each is connected with those that are created after it. */
export class SenderWork {
  readonly recovered: RecoveredSender;
  readonly log: AttemptLog;
  readonly queues: PartitionQueues;
  readonly states: StateRecords;
  readonly flow: AttemptFlow;
  readonly outage: Outage;
  readonly catchUp: CatchUp;
  readonly held: HeldQueues;
  readonly position: PositionCommitter;

  constructor(private readonly options: SenderWorkOptions) {
    const { codecs, directory, metrics, nowMs, monotonicMs } = options.parts;
    const { partition } = options.context;
    this.recovered = options.recovered;
    this.log = this.createLog();
    this.queues = this.createQueues();
    const { queues } = this;
    this.states = new StateRecords({ queues, codecs, partition, nowMs, monotonicMs });
    this.flow = this.createFlow();
    this.outage = this.createOutage();
    this.catchUp = this.createCatchUp();
    const { flow, states, catchUp } = this;
    this.held = new HeldQueues({ queues, flow, states, catchUp, directory, metrics });
    this.position = this.createPosition();
  }

  private createLog(): AttemptLog {
    const { parts, context, writer, recovered, onFailure } = this.options;
    return new AttemptLog({
      writer,
      codecs: parts.codecs,
      partition: context.partition,
      flushScheduler: parts.flushScheduler,
      attemptsEnd: recovered.attemptsEnd,
      onFailure,
      states: () => this.states.collect(),
      onFlushed: () => {
        this.position.moved();
      },
    });
  }

  private createQueues(): PartitionQueues {
    const { limits, memory: shared, directory } = this.options.parts;
    const { start, begun } = this.recovered;
    return new PartitionQueues({
      limits,
      memory: new DeliveryMemory(limits.bytes, shared),
      start,
      begun,
      attemptsEnd: () => this.log.attemptsEnd,
      isPaused: (id) => directory.isPaused(id),
    });
  }

  private createFlow(): AttemptFlow {
    const { parts, context, hasResumed, onFinished } = this.options;
    const { runner, scheduler, timers, metrics, logger, directory, nowMs, monotonicMs, random, traces } = parts;
    return new AttemptFlow({
      context,
      log: this.log,
      tracer: createAttemptTracer(traces),
      outage: () => this.outage,
      hasResumed,
      runner,
      scheduler,
      timers,
      metrics,
      logger,
      directory,
      nowMs,
      monotonicMs,
      random,
      onFinished,
    });
  }

  private createOutage(): Outage {
    const { directory, timers, metrics, nowMs, monotonicMs } = this.options.parts;
    return new Outage({
      directory,
      log: this.log,
      states: this.states,
      timers,
      metrics,
      nowMs,
      monotonicMs,
      hold: (queue) => {
        this.held.hold(queue);
      },
      release: (queue) => {
        this.flow.release(queue);
      },
      probe: (queue) => {
        this.flow.probe(queue);
      },
    });
  }

  private createCatchUp(): CatchUp {
    const { parts, context, take, onFailure } = this.options;
    const { backend, codecs, metrics, logger } = parts;
    const { partition } = context;
    return new CatchUp({
      backend,
      codecs,
      partition,
      queues: this.queues,
      onFailure,
      take,
      onCaughtUp: () => {
        metrics.parkedChanged(-1);
      },
      onDeleted: (subscriptionId, from, to) => {
        logger.error('deliveries_deleted_unsent', { partition, subscriptionId, from, to });
      },
    });
  }

  private createPosition(): PositionCommitter {
    const { parts, context } = this.options;
    const { start } = this.recovered;
    return createPositionCommitter({
      context,
      monotonicMs: parts.monotonicMs,
      logger: parts.logger,
      committed: { offset: start.offset, metadata: String(start.foldFrom) },
      position: () => {
        const { offset, foldFrom } = this.queues.commitPoint();
        return { offset, metadata: String(foldFrom) };
      },
    });
  }
}
