import { Module } from '@nestjs/common';
import { ContractsModule } from '@waypost/platform';
import { AttemptsModule } from './attempts/attempts.module.js';
import { PathsModule } from './paths/paths.module.js';
import { WaitingDeliveriesModule } from './waiting-deliveries/waiting-deliveries.module.js';

/** The consumers start in this order, also while the registry is down: only a record that cannot be used waits for it. */
@Module({
  imports: [ContractsModule.forRoot(), AttemptsModule, PathsModule, WaitingDeliveriesModule],
})
export class HistoryProjectorModule {}
