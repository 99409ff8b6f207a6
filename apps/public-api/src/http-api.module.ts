import { type DynamicModule, Module, type Provider } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import { ApiKeysController } from './api-keys/api-keys.controller.js';
import { createKeyDirectory } from './auth/key-directory.js';
import { createRateLimiter } from './auth/rate-limiter.js';
import {
  ADDRESS_LIMITER,
  type ApiDependencies,
  CLOCK,
  DELIVERY_PAGES,
  GEOFENCE_SERVICE,
  IDEMPOTENT_REQUESTS,
  KEY_DIRECTORY,
  LOGGER,
  MANAGEMENT_STORE,
  OUTAGE_LOG,
  PAGE_STATES,
  PATH_PAGES,
  RATE_LIMITER,
  REPLAY_SERVICE,
  SUBSCRIPTION_SERVICE,
  UNTIL_PUBLISHED,
} from './dependencies.js';
import { ApiErrorFilter } from './errors/api-error.filter.js';
import { createOutageLog } from './errors/outage-log.js';
import { FleetController } from './fleets/fleet.controller.js';
import { createGeofenceService } from './geofences/geofence-service.js';
import { GeofencesController } from './geofences/geofences.controller.js';
import { createDeliveryPages } from './history/delivery-pages.js';
import { createIdempotentRequests } from './idempotency/idempotent-requests.js';
import { OpenApiController } from './openapi/openapi.controller.js';
import { OperationsController } from './operations/operations.controller.js';
import { createPageStates, createPathPageStates } from './page-state/page-states.js';
import { createPathPages } from './paths/path-pages.js';
import { PathsController } from './paths/paths.controller.js';
import { createReplayService } from './replays/replay-service.js';
import { ReplaysController } from './replays/replays.controller.js';
import { createAddressLimiter } from './security/address-limiter.js';
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
        GeofencesController,
        FleetController,
        ApiKeysController,
        V1HistoryController,
        V2EventsController,
        PathsController,
      ],
      providers: [{ provide: APP_FILTER, useClass: ApiErrorFilter }, ...providersOf(dependencies)],
    };
  }
}

function providersOf(given: ApiDependencies): Provider[] {
  const { logger, history, paths, store, now, rateLimit } = given;
  const pageStates = createPageStates({ key: given.pageTokenKey, now });
  const pathPageStates = createPathPageStates({ key: given.pageTokenKey, now });
  const values: [symbol, object][] = [
    [LOGGER, logger],
    [MANAGEMENT_STORE, store],
    [KEY_DIRECTORY, createKeyDirectory({ findApiKey: (hash) => store.findApiKey(hash), now })],
    [RATE_LIMITER, createRateLimiter(rateLimit, now)],
    [ADDRESS_LIMITER, createAddressLimiter(createRateLimiter(given.addressRateLimit, now))],
    [OUTAGE_LOG, createOutageLog(logger, now)],
    [PAGE_STATES, pageStates],
    [DELIVERY_PAGES, createDeliveryPages({ history, pageStates, now })],
    [PATH_PAGES, createPathPages({ paths, pageStates: pathPageStates, now })],
    [CLOCK, now],
    [UNTIL_PUBLISHED, given.untilPublished],
    [IDEMPOTENT_REQUESTS, createIdempotentRequests(given)],
    [GEOFENCE_SERVICE, createGeofenceService(given)],
    [REPLAY_SERVICE, createReplayService(given)],
    [SUBSCRIPTION_SERVICE, createSubscriptionService(given)],
  ];
  return values.map(([provide, useValue]) => ({ provide, useValue }));
}
