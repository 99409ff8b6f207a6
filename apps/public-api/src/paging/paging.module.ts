import { Module } from '@nestjs/common';
import { ListPagesService } from './list-pages.service.js';
import { DeliveryPageStates, ListPageStates, PathPageStates } from './page-states.js';

const providers = [ListPagesService, DeliveryPageStates, ListPageStates, PathPageStates];

/** Page tokens and lists. */
@Module({ providers, exports: providers })
export class PagingModule {}
