import { Module } from '@nestjs/common';
import { StreamsModule, TracesModule } from '@waypost/platform';
import { FleetsModule } from '../fleets/fleets.module.js';
import { PingMetrics } from './ping-metrics.js';
import { PingsController } from './pings.controller.js';
import { PingsTopology } from './pings.topology.js';

@Module({
  imports: [StreamsModule, TracesModule, FleetsModule],
  controllers: [PingsController],
  providers: [PingsTopology, PingMetrics],
})
export class PingsModule {}
