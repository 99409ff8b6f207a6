import { Module } from '@nestjs/common';
import { PagingModule } from '../paging/paging.module.js';
import { PathsController } from './paths.controller.js';
import { PathsService } from './paths.service.js';

@Module({ imports: [PagingModule], controllers: [PathsController], providers: [PathsService] })
export class PathsModule {}
