import { Module } from '@nestjs/common';
import { ApiDatabaseModule } from '../database/api-database.module.js';
import { PagingModule } from '../paging/paging.module.js';
import { PathsController } from './paths.controller.js';
import { PathsService } from './paths.service.js';

@Module({ imports: [ApiDatabaseModule, PagingModule], controllers: [PathsController], providers: [PathsService] })
export class PathsModule {}
