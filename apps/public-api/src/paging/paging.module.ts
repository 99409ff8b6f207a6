import { Module } from '@nestjs/common';
import { CLOCK, CONFIG } from '@waypost/platform';
import type { PublicApiConfig } from '../config.js';
import { ListPages } from './list-pages.service.js';
import { createPageStates, createPathPageStates, PAGE_STATES, PATH_PAGE_STATES } from './page-states.js';

const providers = [
  ListPages,
  {
    provide: PAGE_STATES,
    inject: [CONFIG, CLOCK],
    useFactory: ({ pageTokenKeys }: PublicApiConfig, now: () => number) =>
      createPageStates({ keys: pageTokenKeys, now }),
  },
  {
    provide: PATH_PAGE_STATES,
    inject: [CONFIG, CLOCK],
    useFactory: ({ pageTokenKeys }: PublicApiConfig, now: () => number) =>
      createPathPageStates({ keys: pageTokenKeys, now }),
  },
];

/** Page tokens and lists. */
@Module({ providers, exports: providers })
export class PagingModule {}
