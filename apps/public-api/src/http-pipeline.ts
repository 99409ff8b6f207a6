import { Inject, Injectable } from '@nestjs/common';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { RequestHandler } from 'express';
import helmet from 'helmet';
import { Registry } from 'prom-client';
import { FleetPortalStore } from '@waypost/management-store';
import { CONFIG, LOGGER, type Logger, MONOTONIC_CLOCK, NEW_ID } from '@waypost/platform';
import { AdminKeys } from './auth/admin-keys.js';
import { identifyCallers } from './auth/caller.middleware.js';
import { KeyDirectory } from './auth/key-directory.js';
import type { PublicApiConfig } from './config.js';
import { serveConsole, servePortal } from './console/console.middleware.js';
import { CONSOLE_FOLDER } from './console/console.module.js';
import { parseQuery } from './endpoint/query-text.js';
import { identifyRequests } from './errors/request-id.middleware.js';
import { answerClientErrors } from './http/client-errors.js';
import { answerGone, deprecateV1, V1_HISTORY_PATH } from './http/deprecation.middleware.js';
import {
  limitUrlLength,
  onlyJsonBodies,
  refuseDeepJson,
  refuseExpectations,
  requireHost,
  sendOwnErrors,
} from './http/request-refusals.middleware.js';
import { createRouteOf, dropUselessConditions, guardMethods } from './http/route-table.middleware.js';
import { limitServer, SERVER_LIMITS, type ServerLimits } from './http/server-limits.js';
import { boundUnreadResponses } from './http/unread-responses.middleware.js';
import { AddressLimiter } from './limits/address-limiter.js';
import { RateLimiter } from './limits/rate-limiter.js';
import { OpenApi } from './openapi/openapi-document.js';
import { measureRequests } from './prometheus/request-metrics.middleware.js';

const MAX_BODY = '100kb';
/** body-parser has this option, Nest's type for its options does not. */
const DEPTH_CHECK = { verify: refuseDeepJson };

/**
 * What comes before the router, in this order. Not Nest's middleware consumer: it comes after the body parser, and no
 * body is read before its request is admitted.
 */
@Injectable()
export class HttpPipeline {
  constructor(
    @Inject(CONFIG) private readonly config: Pick<PublicApiConfig, 'http' | 'mapTiles'>,
    private readonly openApi: OpenApi,
    private readonly keys: KeyDirectory,
    private readonly admins: AdminKeys,
    private readonly limiter: RateLimiter,
    private readonly addresses: AddressLimiter,
    private readonly registry: Registry,
    @Inject(CONSOLE_FOLDER) private readonly consoleFolder: string,
    private readonly portals: FleetPortalStore,
    @Inject(MONOTONIC_CLOCK) private readonly monotonicMs: () => number,
    @Inject(NEW_ID) private readonly newId: () => string,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  mountOn(app: NestExpressApplication, { maxUnreadBytes }: ServerLimits): void {
    const { keys, admins, limiter, addresses, registry, portals, monotonicMs, newId, logger } = this;
    const { mapTiles, http } = this.config;
    const routes = this.openApi.routes();
    app.use(identifyRequests(newId));
    app.use(measureRequests({ registry, routeOf: createRouteOf(Object.keys(routes)), monotonicMs }));
    // Files that are the same for everyone, before what is counted for a caller.
    app.use(serveConsole(this.consoleFolder, mapTiles));
    app.use(helmet());
    app.use(noStore);
    // Before everything that can respond: the refusals below are responses of v1 as well.
    app.use(V1_HISTORY_PATH, deprecateV1);
    app.use(identifyCallers({ keys, admins, limiter, addresses, logger }));
    app.use(boundUnreadResponses(maxUnreadBytes));
    // Looks something up, so it is counted.
    app.use(servePortal(this.consoleFolder, mapTiles, (portalId) => portals.findByPortalId(portalId)));
    if (http.v1Gone) app.use(V1_HISTORY_PATH, answerGone);
    app.use(requireHost);
    app.use(refuseExpectations);
    app.use(limitUrlLength);
    app.use(dropUselessConditions(this.openApi.conditionalPaths()));
    app.use(guardMethods(routes));
    app.use(onlyJsonBodies);
    app.useBodyParser('json', { limit: MAX_BODY, ...DEPTH_CHECK });
    app.use(sendOwnErrors);
  }
}

/** Called before `app.init()`. */
export function configureHttp(app: NestExpressApplication, limits = SERVER_LIMITS): void {
  const { http } = app.get<Pick<PublicApiConfig, 'http'>>(CONFIG);
  limitServer(app.getHttpServer(), limits);
  answerClientErrors(app.getHttpServer(), { v1Gone: http.v1Gone, newId: app.get<() => string>(NEW_ID) });
  app.set('trust proxy', http.trustedProxies);
  app.set('query parser', parseQuery);
  app.disable('x-powered-by');
  // Every page is different: hashing it for a client that will not ask again is wasted work.
  app.disable('etag');
  app.get(HttpPipeline, { strict: false }).mountOn(app, limits);
}

/** Responses contain one fleet's data: no cache may keep them. */
const noStore: RequestHandler = (_request, response, next) => {
  response.set('cache-control', 'no-store');
  next();
};
