import { Controller, Inject } from '@nestjs/common';
import { Ctx, Payload } from '@nestjs/microservices';
import { type AvroCodecs, consumerGroups } from '@waypost/contracts';
import { CODECS, CONFIG, StreamContext, StreamTask, Traces } from '@waypost/platform';
import type { StreamRecord } from '@waypost/streams';
import type { TelemetryProcessorConfig } from '../config.js';
import { FleetDirectory } from '../fleets/fleet-directory.js';
import { PingMetrics } from './ping-metrics.js';
import { PingsProcessor } from './pings.processor.js';
import { PingsTopology } from './pings.topology.js';

/** Decides each ping of telemetry.pings. */
@Controller()
export class PingsController {
  constructor(
    @Inject(CODECS) private readonly codecs: AvroCodecs,
    @Inject(FleetDirectory) private readonly fleets: Pick<FleetDirectory, 'fleet' | 'knownCount' | 'caughtUp'>,
    private readonly metrics: PingMetrics,
    @Inject(CONFIG) private readonly config: Pick<TelemetryProcessorConfig, 'rules'>,
    private readonly traces: Traces,
  ) {}

  @StreamTask({ group: consumerGroups.telemetryProcessor, topology: PingsTopology })
  async decide(@Payload() slice: readonly StreamRecord[], @Ctx() context: StreamContext<PingsTopology>): Promise<void> {
    const { codecs, fleets, metrics, traces } = this;
    const { rules } = this.config;
    const pings = context.local(
      (task) => new PingsProcessor({ context: task, codecs, fleets, metrics, rules, traces }),
    );
    if (context.isFirstSlice) await pings.beforeBatch();
    await pings.prepare(slice);
    context.forEach((record) => pings.process(record));
  }
}
