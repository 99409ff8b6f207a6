import { Module } from '@nestjs/common';
import { Registry } from 'prom-client';
import { StreamsModule, TracesModule } from '@waypost/platform';
import { FleetsModule } from '../fleets/fleets.module.js';
import { createPingMetrics, PING_METRICS } from './ping-metrics.js';
import { PingsController } from './pings.controller.js';
import { PingTopology } from './pings.topology.js';

@Module({
  imports: [StreamsModule, TracesModule, FleetsModule],
  controllers: [PingsController],
  providers: [PingTopology, { provide: PING_METRICS, inject: [Registry], useFactory: createPingMetrics }],
})
export class PingsModule {}
