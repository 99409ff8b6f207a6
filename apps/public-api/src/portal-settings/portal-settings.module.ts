import { Module } from '@nestjs/common';
import { ApiDatabaseModule } from '../database/api-database.module.js';
import { PortalSettingsController } from './portal-settings.controller.js';
import { PortalSettingsService } from './portal-settings.service.js';

@Module({ imports: [ApiDatabaseModule], controllers: [PortalSettingsController], providers: [PortalSettingsService] })
export class PortalSettingsModule {}
