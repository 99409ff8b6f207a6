import { Module } from '@nestjs/common';
import { ApiDatabaseModule } from '../database/api-database.module.js';
import { DeliveryFiguresController } from './delivery-figures.controller.js';
import { DeliveryFiguresService } from './delivery-figures.service.js';

@Module({ imports: [ApiDatabaseModule], controllers: [DeliveryFiguresController], providers: [DeliveryFiguresService] })
export class DeliveryFiguresModule {}
