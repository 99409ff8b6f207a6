import { Module } from '@nestjs/common';
import { PagingModule } from '../paging/paging.module.js';
import { DeliveryPages } from './delivery-pages.service.js';

@Module({ imports: [PagingModule], providers: [DeliveryPages], exports: [DeliveryPages] })
export class DeliveryHistoryModule {}
