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
import type { SenderDeps } from './sender-work.js';

/** FlushScheduler */
export const SENDER_FLUSH_SCHEDULER = Symbol('SENDER_FLUSH_SCHEDULER');

/** A task writes these topics only at the number of its own partition. */
export const SENDER_COPARTITIONED = [
  topics.webhookAttempts.name,
  topics.subscriptionState.name,
  topics.webhookOperations.name,
];

@Injectable()
export class SenderTaskFactory implements PartitionTaskFactory {
  /** All tasks of the process share them. */
  private readonly deps: SenderDeps;

  constructor(
    @Inject(STREAMS_BACKEND) backend: StreamsBackend,
    @Inject(CODECS) codecs: AvroCodecs,
    directory: SubscriptionDirectory,
    runner: AttemptRunner,
    scheduler: DeliveryScheduler,
    @Inject(SENDER_FLUSH_SCHEDULER) flushScheduler: FlushScheduler,
    @Inject(TIMERS) timers: TimerPort,
    metrics: DeliveryMetrics,
    quarantine: Quarantine,
    @Inject(LOGGER) logger: StreamsLogger,
    @Inject(CLOCK) nowMs: () => number,
    @Inject(MONOTONIC_CLOCK) monotonicMs: () => number,
    @Inject(RANDOM) random: () => number,
    traces: Traces,
    memory: DeliveryMemory,
    retention: RetentionClock,
    @Inject(SENDER_SETTINGS) { unfinished: limits, closeGraceMs }: SenderSettings,
  ) {
    this.deps = {
      backend,
      codecs,
      directory,
      runner,
      scheduler,
      flushScheduler,
      timers,
      metrics,
      quarantine,
      logger,
      nowMs,
      monotonicMs,
      random,
      traces,
      memory,
      retention,
      limits,
      closeGraceMs,
    };
  }

  create(context: TaskContext): PartitionTask {
    return new SenderTask(context, this.deps);
  }
}
