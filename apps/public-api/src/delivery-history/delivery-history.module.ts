import { Module } from '@nestjs/common';
import { ApiDatabaseModule } from '../database/api-database.module.js';
import { PagingModule } from '../paging/paging.module.js';
import { DeliveryPages } from './delivery-pages.service.js';

@Module({ imports: [ApiDatabaseModule, PagingModule], providers: [DeliveryPages], exports: [DeliveryPages] })
export class DeliveryHistoryModule {}
