import { Module } from '@nestjs/common';
import { DeliveryHistoryModule } from '../delivery-history/delivery-history.module.js';
import { HistoryV1Controller } from './history-v1.controller.js';

@Module({ imports: [DeliveryHistoryModule], controllers: [HistoryV1Controller] })
export class HistoryV1Module {}
