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
import { ReplayTask, type ReplayTaskParts } from './replay.task.js';
import { SelectionMemory } from './selection-memory.js';

/** A task reads and writes these topics only at the number of its own partition. */
export const REPLAYER_COPARTITIONED = [
  topics.replayProgress.name,
  topics.webhookDeliveries.name,
  topics.webhookAttempts.name,
];

const MAX_SELECTION_BYTES = 128 * 1024 * 1024;

@Injectable()
export class ReplayTaskFactory implements PartitionTaskFactory, ReplayTaskParts {
  readonly maxUnsent: number;
  readonly selections = new SelectionMemory(MAX_SELECTION_BYTES);

  constructor(
    @Inject(STREAMS_BACKEND) readonly backend: StreamsBackend,
    @Inject(CODECS) readonly codecs: AvroCodecs,
    readonly directory: SubscriptionDirectory,
    readonly metrics: ReplayMetrics,
    @Inject(LOGGER) readonly logger: StreamsLogger,
    @Inject(CLOCK) readonly nowMs: () => number,
    @Inject(MONOTONIC_CLOCK) readonly monotonicMs: () => number,
    @Inject(TIMERS) readonly timers: TimerPort,
    @Inject(CONFIG) { replay }: Pick<WebhookDeliveryConfig, 'replay'>,
  ) {
    this.maxUnsent = replay.maxUnsent;
  }

  create(context: TaskContext): PartitionTask {
    return new ReplayTask(this, context);
  }
}
