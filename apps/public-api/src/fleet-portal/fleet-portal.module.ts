import { Module } from '@nestjs/common';
import { ApiDatabaseModule } from '../database/api-database.module.js';
import { FleetPortalController } from './fleet-portal.controller.js';
import { FleetPortalService } from './fleet-portal.service.js';

@Module({ imports: [ApiDatabaseModule], controllers: [FleetPortalController], providers: [FleetPortalService] })
export class FleetPortalModule {}
