import { Inject, Injectable } from '@nestjs/common';
import { type AvroCodecs, topics } from '@waypost/contracts';
import {
  CLOCK,
  CODECS,
  LOGGER,
  MONOTONIC_CLOCK,
  type PartitionTaskFactory,
  Quarantine,
  STREAMS_BACKEND,
  Traces,
} from '@waypost/platform';
import type { PartitionTask, StreamsBackend, StreamsLogger, TaskContext } from '@waypost/streams';
import { AttemptRunner } from '../attempt/attempt-runner.js';
import type { FlushIntervals, FlushScheduler } from '../log/flush-scheduler.js';
import { DeliveryMetrics } from '../metrics/delivery-metrics.js';
import { RANDOM, TIMERS } from '../process/process.module.js';
import type { TimerPort } from '../process/timers.js';
import { SubscriptionDirectory } from '../subscriptions/subscription-directory.js';
import { DeliveryMemory } from './delivery-memory.js';
import { DeliveryScheduler, type SlotLimits } from './delivery-scheduler.js';
import type { QueueLimits } from './partition-queues.js';
import type { ReservationLimits } from './reservations.js';
import { createSenderTask } from './sender.task.js';
import type { SenderParts } from './sender-work.js';

export interface SenderSettings {
  readonly slots: SlotLimits;
  readonly reservations: ReservationLimits;
  /** `bytes`: per partition. */
  readonly unfinished: QueueLimits & { readonly bytes: number };
  /** What the unfinished deliveries of all partitions may take. */
  readonly unfinishedBytes: number;
  readonly flushes: FlushIntervals;
  readonly closeGraceMs: number;
}

/** SenderSettings */
export const SENDER_SETTINGS = Symbol('SENDER_SETTINGS');
/** FlushScheduler */
export const SENDER_FLUSH_SCHEDULER = Symbol('SENDER_FLUSH_SCHEDULER');

/** Topics that a task writes at the number of its own partition. */
export const SENDER_COPARTITIONED = [
  topics.webhookAttempts.name,
  topics.subscriptionState.name,
  topics.webhookOperations.name,
];

/** Creates the task of each assigned partition of webhook.deliveries, from parts that all partitions share. */
@Injectable()
export class SenderTaskFactory implements PartitionTaskFactory, SenderParts {
  readonly limits: SenderSettings['unfinished'];
  readonly memory: DeliveryMemory;
  readonly closeGraceMs: number;

  constructor(
    @Inject(STREAMS_BACKEND) readonly backend: StreamsBackend,
    @Inject(CODECS) readonly codecs: AvroCodecs,
    readonly directory: SubscriptionDirectory,
    readonly runner: AttemptRunner,
    readonly scheduler: DeliveryScheduler,
    @Inject(SENDER_FLUSH_SCHEDULER) readonly flushScheduler: FlushScheduler,
    @Inject(TIMERS) readonly timers: TimerPort,
    readonly metrics: DeliveryMetrics,
    readonly quarantine: Quarantine,
    @Inject(LOGGER) readonly logger: StreamsLogger,
    @Inject(CLOCK) readonly nowMs: () => number,
    @Inject(MONOTONIC_CLOCK) readonly monotonicMs: () => number,
    @Inject(RANDOM) readonly random: () => number,
    readonly traces: Traces,
    @Inject(SENDER_SETTINGS) settings: SenderSettings,
  ) {
    this.limits = settings.unfinished;
    this.memory = new DeliveryMemory(settings.unfinishedBytes, null);
    this.closeGraceMs = settings.closeGraceMs;
  }

  create(context: TaskContext): PartitionTask {
    return createSenderTask(this, context);
  }
}
