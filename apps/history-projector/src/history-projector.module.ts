import { Module } from '@nestjs/common';
import { ContractsModule } from '@waypost/platform';
import { AttemptsModule } from './attempts/attempts.module.js';
import { PathsModule } from './paths/paths.module.js';
import { WaitingDeliveriesModule } from './waiting-deliveries/waiting-deliveries.module.js';

/** The consumers start in this order, even while the registry is down: only unusable records wait for it. */
@Module({
  imports: [ContractsModule.forRoot(), AttemptsModule, PathsModule, WaitingDeliveriesModule],
})
export class HistoryProjectorModule {}
