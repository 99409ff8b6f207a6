import { Module } from '@nestjs/common';
import { CLOCK, CONFIG } from '@waypost/platform';
import type { PublicApiConfig } from '../config.js';
import { ListPages } from './list-pages.service.js';
import {
  createListPageStates,
  createPageStates,
  createPathPageStates,
  LIST_PAGE_STATES,
  PAGE_STATES,
  type PageStatesDeps,
  PATH_PAGE_STATES,
} from './page-states.js';

function provided(token: symbol, create: (deps: PageStatesDeps) => unknown) {
  return {
    provide: token,
    inject: [CONFIG, CLOCK],
    useFactory: ({ pageTokenKeys }: PublicApiConfig, now: () => number) => create({ keys: pageTokenKeys, now }),
  };
}

const providers = [
  ListPages,
  provided(PAGE_STATES, createPageStates),
  provided(PATH_PAGE_STATES, createPathPageStates),
  provided(LIST_PAGE_STATES, createListPageStates),
];

/** Page tokens and lists. */
@Module({ providers, exports: providers })
export class PagingModule {}
