import { Module } from '@nestjs/common';
import { ApiDatabaseModule } from '../database/api-database.module.js';
import { OutboxModule } from '../outbox/outbox.module.js';
import { CurrentFleetController } from './current-fleet.controller.js';
import { CurrentFleetService } from './current-fleet.service.js';

@Module({
  imports: [ApiDatabaseModule, OutboxModule],
  controllers: [CurrentFleetController],
  providers: [CurrentFleetService],
})
export class CurrentFleetModule {}
