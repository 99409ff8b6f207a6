import { Module } from '@nestjs/common';
import { ApiDatabaseModule } from '../database/api-database.module.js';
import { SessionController } from './session.controller.js';
import { SessionService } from './session.service.js';

@Module({ imports: [ApiDatabaseModule], controllers: [SessionController], providers: [SessionService] })
export class SessionModule {}
