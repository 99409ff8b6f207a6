import { Module } from '@nestjs/common';
import { type ApiSettings, CLOCK, type Clock, SETTINGS } from '../runtime/runtime.module.js';
import { ListPages } from './list-pages.service.js';
import { createPageStates, createPathPageStates, PAGE_STATES, PATH_PAGE_STATES } from './page-states.js';

const providers = [
  ListPages,
  {
    provide: PAGE_STATES,
    inject: [SETTINGS, CLOCK],
    useFactory: ({ pageTokenKeys }: ApiSettings, now: Clock) => createPageStates({ keys: pageTokenKeys, now }),
  },
  {
    provide: PATH_PAGE_STATES,
    inject: [SETTINGS, CLOCK],
    useFactory: ({ pageTokenKeys }: ApiSettings, now: Clock) => createPathPageStates({ keys: pageTokenKeys, now }),
  },
];

/** Page tokens and lists. */
@Module({ providers, exports: providers })
export class PagingModule {}
