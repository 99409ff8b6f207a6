import { Module } from '@nestjs/common';
import { ApiDatabaseModule } from '../database/api-database.module.js';
import { FleetFiguresController } from './fleet-figures.controller.js';
import { FleetFiguresService } from './fleet-figures.service.js';

@Module({ imports: [ApiDatabaseModule], controllers: [FleetFiguresController], providers: [FleetFiguresService] })
export class FleetFiguresModule {}
