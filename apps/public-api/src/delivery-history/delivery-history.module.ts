import { Module } from '@nestjs/common';
import { ApiDatabaseModule } from '../database/api-database.module.js';
import { PagingModule } from '../paging/paging.module.js';
import { DeliveryPagesService } from './delivery-pages.service.js';

@Module({
  imports: [ApiDatabaseModule, PagingModule],
  providers: [DeliveryPagesService],
  exports: [DeliveryPagesService],
})
export class DeliveryHistoryModule {}
