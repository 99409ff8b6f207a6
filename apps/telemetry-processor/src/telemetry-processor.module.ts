import { Module } from '@nestjs/common';
import { ContractsModule } from '@waypost/platform';
import { PingsModule } from './pings/pings.module.js';

@Module({ imports: [ContractsModule.forRoot(['fleetEvents', 'deviceState', 'telemetryRejected']), PingsModule] })
export class TelemetryProcessorModule {}
