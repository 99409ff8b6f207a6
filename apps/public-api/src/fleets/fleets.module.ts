import { Module } from '@nestjs/common';
import { PagingModule } from '../paging/paging.module.js';
import { FleetsController } from './fleets.controller.js';
import { FleetsService } from './fleets.service.js';

@Module({ imports: [PagingModule], controllers: [FleetsController], providers: [FleetsService] })
export class FleetsModule {}
