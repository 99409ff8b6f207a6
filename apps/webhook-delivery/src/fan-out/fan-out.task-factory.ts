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
import { type FanOutDeps, FanOutTask } from './fan-out.task.js';

/** FlushScheduler */
export const FAN_OUT_FLUSH_SCHEDULER = Symbol('FAN_OUT_FLUSH_SCHEDULER');

@Injectable()
export class FanOutTaskFactory implements PartitionTaskFactory {
  /** All tasks of the process share them. */
  private readonly deps: FanOutDeps;

  constructor(
    @Inject(STREAMS_BACKEND) backend: StreamsBackend,
    @Inject(CODECS) codecs: AvroCodecs,
    directory: SubscriptionDirectory,
    @Inject(FAN_OUT_FLUSH_SCHEDULER) flushScheduler: FlushScheduler,
    metrics: DeliveryMetrics,
    quarantine: Quarantine,
    @Inject(LOGGER) logger: StreamsLogger,
    @Inject(CLOCK) nowMs: () => number,
    @Inject(MONOTONIC_CLOCK) monotonicMs: () => number,
    traces: Traces,
    headroom: Headroom,
    rounds: DutyCycle,
  ) {
    this.deps = {
      backend,
      codecs,
      directory,
      flushScheduler,
      metrics,
      quarantine,
      logger,
      nowMs,
      monotonicMs,
      traces,
      headroom,
      rounds,
    };
  }

  create(context: TaskContext): PartitionTask {
    return new FanOutTask(context, this.deps);
  }
}
