import { Module } from '@nestjs/common';
import { KafkaModule, QuarantineModule } from '@waypost/platform';
import { FleetDirectory } from './fleet-directory.js';

@Module({
  imports: [KafkaModule, QuarantineModule],
  providers: [FleetDirectory],
  exports: [FleetDirectory],
})
export class FleetsModule {}
