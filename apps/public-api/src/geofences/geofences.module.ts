import { Module } from '@nestjs/common';
import { ApiDatabaseModule } from '../database/api-database.module.js';
import { IdempotencyModule } from '../idempotency/idempotency.module.js';
import { OutboxModule } from '../outbox/outbox.module.js';
import { PagingModule } from '../paging/paging.module.js';
import { GeofencesController } from './geofences.controller.js';
import { GeofencesService } from './geofences.service.js';

@Module({
  imports: [ApiDatabaseModule, IdempotencyModule, OutboxModule, PagingModule],
  controllers: [GeofencesController],
  providers: [GeofencesService],
})
export class GeofencesModule {}
