import { Module } from '@nestjs/common';
import { ApiDatabaseModule } from '../database/api-database.module.js';
import { CurrentSessionController } from './current-session.controller.js';
import { CurrentSessionService } from './current-session.service.js';

@Module({ imports: [ApiDatabaseModule], controllers: [CurrentSessionController], providers: [CurrentSessionService] })
export class CurrentSessionModule {}
