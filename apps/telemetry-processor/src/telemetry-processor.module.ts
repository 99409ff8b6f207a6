import { Module } from '@nestjs/common';

/** The processor has no HTTP face of its own: its work is the topology, started as a part of the application. */
@Module({})
export class TelemetryProcessorModule {}
