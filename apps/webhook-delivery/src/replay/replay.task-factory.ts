import { Inject, Injectable } from '@nestjs/common';
import { type AvroCodecs, topics } from '@waypost/contracts';
import {
  CLOCK,
  CODECS,
  CONFIG,
  LOGGER,
  MONOTONIC_CLOCK,
  type PartitionTaskFactory,
  STREAMS_BACKEND,
} from '@waypost/platform';
import type { PartitionTask, StreamsBackend, StreamsLogger, TaskContext } from '@waypost/streams';
import type { WebhookDeliveryConfig } from '../config.js';
import { ReplayMetrics } from '../metrics/delivery-metrics.js';
import type { TimerPort } from '../process/timers.js';
import { TIMERS } from '../process/timers.module.js';
import { SubscriptionDirectory } from '../subscriptions/subscription-directory.js';
import { ReplayTask, type ReplayTaskDeps } from './replay.task.js';
import { SelectionMemory } from './selection-memory.js';

/** A task reads and writes these topics only at the number of its own partition. */
export const REPLAYER_COPARTITIONED = [
  topics.replayProgress.name,
  topics.webhookDeliveries.name,
  topics.webhookAttempts.name,
];

@Injectable()
export class ReplayTaskFactory implements PartitionTaskFactory {
  /** All tasks of the process share them. */
  private readonly deps: ReplayTaskDeps;

  constructor(
    @Inject(STREAMS_BACKEND) backend: StreamsBackend,
    @Inject(CODECS) codecs: AvroCodecs,
    directory: SubscriptionDirectory,
    metrics: ReplayMetrics,
    selections: SelectionMemory,
    @Inject(LOGGER) logger: StreamsLogger,
    @Inject(CLOCK) nowMs: () => number,
    @Inject(MONOTONIC_CLOCK) monotonicMs: () => number,
    @Inject(TIMERS) timers: TimerPort,
    @Inject(CONFIG) { replay }: Pick<WebhookDeliveryConfig, 'replay'>,
  ) {
    const { maxUnsent } = replay;
    this.deps = { backend, codecs, directory, metrics, selections, logger, nowMs, monotonicMs, timers, maxUnsent };
  }

  create(context: TaskContext): PartitionTask {
    return new ReplayTask(context, this.deps);
  }
}
