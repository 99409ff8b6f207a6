import { Module } from '@nestjs/common';
import { IdempotencyModule } from '../idempotency/idempotency.module.js';
import { PagingModule } from '../paging/paging.module.js';
import { GeofencesController } from './geofences.controller.js';
import { GeofencesService } from './geofences.service.js';

@Module({
  imports: [IdempotencyModule, PagingModule],
  controllers: [GeofencesController],
  providers: [GeofencesService],
})
export class GeofencesModule {}
