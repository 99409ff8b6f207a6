import type { NestExpressApplication } from '@nestjs/platform-express';
import type { RequestHandler } from 'express';
import helmet from 'helmet';
import { admitRequests } from './auth/admission.middleware.js';
import { ADDRESS_LIMITER, KEY_DIRECTORY, RATE_LIMITER } from './auth/auth.module.js';
import type { KeyDirectory } from './auth/key-directory.js';
import type { AddressLimiter, RateLimiter } from './auth/rate-limiter.js';
import { parseQuery } from './endpoint/query-text.js';
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
import { dropUselessConditions, guardMethods } from './http/route-table.middleware.js';
import { limitServer, type ServerLimits } from './http/server-limits.js';
import { OpenApi } from './openapi/openapi-document.js';

export interface HttpOptions {
  /** The switch of R-32: v1 answers 410. */
  readonly v1Gone: boolean;
  /** Addresses and subnets of proxies whose X-Forwarded-For contains the client's address. */
  readonly trustedProxies?: readonly string[];
  readonly limits?: ServerLimits;
}

const MAX_BODY = '100kb';
/** body-parser has this option, Nest's type for its options does not. */
const DEPTH_CHECK = { verify: refuseDeepJson };

/** The middleware before the router, in this order; called before `app.init()`. */
export function configureHttp(app: NestExpressApplication, { v1Gone, trustedProxies, limits }: HttpOptions): void {
  const openApi = app.get(OpenApi, { strict: false });
  limitServer(app.getHttpServer(), limits);
  answerClientErrors(app.getHttpServer(), { v1Gone });
  app.set('trust proxy', [...(trustedProxies ?? [])]);
  app.set('query parser', parseQuery);
  app.disable('x-powered-by');
  // Every page is different: hashing it for a client that will not ask again is wasted work.
  app.disable('etag');
  app.use(helmet());
  app.use(noStore);
  // Before everything that can respond: the refusals below are responses of v1, too.
  app.use(V1_HISTORY_PATH, deprecateV1);
  app.use(admission(app));
  if (v1Gone) app.use(V1_HISTORY_PATH, answerGone);
  app.use(requireHost);
  app.use(refuseExpectations);
  app.use(limitUrlLength);
  app.use(dropUselessConditions(openApi.conditionalPaths()));
  app.use(guardMethods(openApi.routes()));
  app.use(onlyJsonBodies);
  app.useBodyParser('json', { limit: MAX_BODY, ...DEPTH_CHECK });
  app.use(sendOwnErrors);
}

function admission(app: NestExpressApplication): RequestHandler {
  return admitRequests({
    keys: app.get<KeyDirectory>(KEY_DIRECTORY, { strict: false }),
    limiter: app.get<RateLimiter>(RATE_LIMITER, { strict: false }),
    addresses: app.get<AddressLimiter>(ADDRESS_LIMITER, { strict: false }),
  });
}

/** Responses contain one fleet's data: no cache may keep them. */
const noStore: RequestHandler = (_request, response, next) => {
  response.set('cache-control', 'no-store');
  next();
};
