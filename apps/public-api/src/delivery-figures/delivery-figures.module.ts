import { Module } from '@nestjs/common';
import { DeliveryFiguresController } from './delivery-figures.controller.js';
import { DeliveryFiguresService } from './delivery-figures.service.js';

@Module({ controllers: [DeliveryFiguresController], providers: [DeliveryFiguresService] })
export class DeliveryFiguresModule {}
