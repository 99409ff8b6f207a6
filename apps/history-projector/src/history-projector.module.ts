import { Module } from '@nestjs/common';
import { ContractsModule } from '@waypost/platform';
import { AttemptsModule } from './attempts/attempts.module.js';
import { PathsModule } from './paths/paths.module.js';
import { WaitingModule } from './waiting/waiting.module.js';

/** The consumers start in this order. */
@Module({ imports: [ContractsModule.forRoot(['telemetryRejected']), AttemptsModule, PathsModule, WaitingModule] })
export class HistoryProjectorModule {}
