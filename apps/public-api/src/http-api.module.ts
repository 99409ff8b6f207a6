import { type DynamicModule, Module, type Provider } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import { createKeyDirectory } from './auth/key-directory.js';
import { createRateLimiter } from './auth/rate-limiter.js';
import {
  type ApiDependencies,
  DELIVERY_PAGES,
  KEY_DIRECTORY,
  LOGGER,
  MANAGEMENT_STORE,
  PAGE_STATES,
  RATE_LIMITER,
  REPLAY_SERVICE,
  SUBSCRIPTION_SERVICE,
} from './dependencies.js';
import { ApiErrorFilter } from './errors/api-error.filter.js';
import { createDeliveryPages } from './history/delivery-pages.js';
import { OpenApiController } from './openapi/openapi.controller.js';
import { OperationsController } from './operations/operations.controller.js';
import { createPageStates } from './page-state/page-states.js';
import { createReplayService } from './replays/replay-service.js';
import { ReplaysController } from './replays/replays.controller.js';
import { createSubscriptionService } from './subscriptions/subscription-service.js';
import { SubscriptionsController } from './subscriptions/subscriptions.controller.js';
import { V1HistoryController } from './v1-history/v1-history.controller.js';
import { V2EventsController } from './v2-events/v2-events.controller.js';

/** The HTTP side of the application, on whatever it is given. */
@Module({})
export class HttpApiModule {
  static on(dependencies: ApiDependencies): DynamicModule {
    return {
      module: HttpApiModule,
      controllers: [
        OpenApiController,
        SubscriptionsController,
        OperationsController,
        ReplaysController,
        V1HistoryController,
        V2EventsController,
      ],
      providers: [{ provide: APP_FILTER, useClass: ApiErrorFilter }, ...providersOf(dependencies)],
    };
  }
}

function providersOf(given: ApiDependencies): Provider[] {
  const { logger, history, store, now, rateLimit } = given;
  const pageStates = createPageStates({ key: given.pageTokenKey, now });
  const values: [symbol, object][] = [
    [LOGGER, logger],
    [MANAGEMENT_STORE, store],
    [KEY_DIRECTORY, createKeyDirectory({ findApiKey: (hash) => store.findApiKey(hash), now })],
    [RATE_LIMITER, createRateLimiter(rateLimit, now)],
    [PAGE_STATES, pageStates],
    [DELIVERY_PAGES, createDeliveryPages({ history, pageStates, now })],
    [REPLAY_SERVICE, createReplayService(given)],
    [SUBSCRIPTION_SERVICE, createSubscriptionService(given)],
  ];
  return values.map(([provide, useValue]) => ({ provide, useValue }));
}
