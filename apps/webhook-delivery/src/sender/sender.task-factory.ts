import { Inject, Injectable } from '@nestjs/common';
import { type AvroCodecs, topics } from '@waypost/contracts';
import {
  CLOCK,
  CODECS,
  LOGGER,
  MONOTONIC_CLOCK,
  type PartitionTaskFactory,
  Quarantine,
  RANDOM,
  STREAMS_BACKEND,
  Traces,
} from '@waypost/platform';
import type { PartitionTask, StreamsBackend, StreamsLogger, TaskContext } from '@waypost/streams';
import type { FlushScheduler } from '../commits/flush-scheduler.js';
import { DeliveryMetrics } from '../metrics/delivery-metrics.js';
import type { TimerPort } from '../process/timers.js';
import { TIMERS } from '../process/timers.module.js';
import { AttemptRunner } from '../single-attempt/attempt-runner.js';
import { SubscriptionDirectory } from '../subscriptions/subscription-directory.js';
import { RetentionClock } from './attempts/retention-clock.js';
import { DeliveryMemory } from './backlogs/delivery-memory.js';
import { DeliveryScheduler } from './scheduling/delivery-scheduler.js';
import { SenderTask } from './sender.task.js';
import { SENDER_SETTINGS, type SenderSettings } from './sender-settings.js';
import type { SenderParts } from './sender-work.js';

/** FlushScheduler */
export const SENDER_FLUSH_SCHEDULER = Symbol('SENDER_FLUSH_SCHEDULER');

/** A task writes these topics only at the number of its own partition. */
export const SENDER_COPARTITIONED = [
  topics.webhookAttempts.name,
  topics.subscriptionState.name,
  topics.webhookOperations.name,
];

@Injectable()
export class SenderTaskFactory implements PartitionTaskFactory, SenderParts {
  readonly limits: SenderSettings['unfinished'];
  readonly memory: DeliveryMemory;
  readonly retention: RetentionClock;
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
    this.retention = new RetentionClock({ nowMs, monotonicMs, logger });
    this.closeGraceMs = settings.closeGraceMs;
  }

  create(context: TaskContext): PartitionTask {
    return new SenderTask(this, context);
  }
}
