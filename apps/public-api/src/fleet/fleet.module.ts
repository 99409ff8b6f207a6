import { Module } from '@nestjs/common';
import { ApiDatabaseModule } from '../database/api-database.module.js';
import { OutboxModule } from '../outbox/outbox.module.js';
import { FleetController } from './fleet.controller.js';
import { FleetService } from './fleet.service.js';

@Module({ imports: [ApiDatabaseModule, OutboxModule], controllers: [FleetController], providers: [FleetService] })
export class FleetModule {}
