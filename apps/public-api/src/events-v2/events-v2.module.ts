import { Module } from '@nestjs/common';
import { DeliveryHistoryModule } from '../delivery-history/delivery-history.module.js';
import { EventsV2Controller } from './events-v2.controller.js';

@Module({ imports: [DeliveryHistoryModule], controllers: [EventsV2Controller] })
export class EventsV2Module {}
