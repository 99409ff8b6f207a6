import { Module } from '@nestjs/common';
import { FleetPortalController } from './fleet-portal.controller.js';
import { FleetPortalService } from './fleet-portal.service.js';

@Module({ controllers: [FleetPortalController], providers: [FleetPortalService] })
export class FleetPortalModule {}
