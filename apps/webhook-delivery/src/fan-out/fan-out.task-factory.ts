import { Inject, Injectable } from '@nestjs/common';
import { type AvroCodecs } from '@waypost/contracts';
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
import type { FlushScheduler } from '../commits/flush-scheduler.js';
import { DeliveryMetrics } from '../metrics/delivery-metrics.js';
import { Headroom } from '../process/headroom.js';
import { SubscriptionDirectory } from '../subscriptions/subscription-directory.js';
import { DutyCycle } from './duty-cycle.js';
import { type FanOutParts, FanOutTask } from './fan-out.task.js';

/** FlushScheduler */
export const FAN_OUT_FLUSH_SCHEDULER = Symbol('FAN_OUT_FLUSH_SCHEDULER');

@Injectable()
export class FanOutTaskFactory implements PartitionTaskFactory, FanOutParts {
  readonly rounds: DutyCycle;

  constructor(
    @Inject(STREAMS_BACKEND) readonly backend: StreamsBackend,
    @Inject(CODECS) readonly codecs: AvroCodecs,
    readonly directory: SubscriptionDirectory,
    @Inject(FAN_OUT_FLUSH_SCHEDULER) readonly flushScheduler: FlushScheduler,
    readonly metrics: DeliveryMetrics,
    readonly quarantine: Quarantine,
    @Inject(LOGGER) readonly logger: StreamsLogger,
    @Inject(CLOCK) readonly nowMs: () => number,
    @Inject(MONOTONIC_CLOCK) readonly monotonicMs: () => number,
    readonly traces: Traces,
    readonly headroom: Headroom,
  ) {
    this.rounds = new DutyCycle(monotonicMs, headroom);
  }

  create(context: TaskContext): PartitionTask {
    return new FanOutTask(this, context);
  }
}
