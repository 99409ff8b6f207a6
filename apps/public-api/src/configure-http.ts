import type { NestExpressApplication } from '@nestjs/platform-express';
import type { ErrorRequestHandler, RequestHandler } from 'express';
import helmet from 'helmet';
import { admitRequests } from './auth/admission.middleware.js';
import type { KeyDirectory } from './auth/key-directory.js';
import type { RateLimiter } from './auth/rate-limiter.js';
import { ADDRESS_LIMITER, KEY_DIRECTORY, RATE_LIMITER } from './dependencies.js';
import { ApiError } from './errors/api-error.js';
import { sendApiError } from './errors/api-error.filter.js';
import { dropIdleConditions } from './http/entity-tags.middleware.js';
import { refuseExpectations } from './http/expectations.middleware.js';
import { onlyJsonBodies } from './http/json-bodies.middleware.js';
import { guardMethods } from './http/method-guard.middleware.js';
import { requireHost } from './http/require-host.middleware.js';
import { openApiDocument } from './openapi/document.js';
import { conditionalPaths, documentedMethods } from './openapi/documented-methods.js';
import type { AddressLimiter } from './security/address-limiter.js';
import { answerClientErrors } from './security/answer-client-errors.js';
import { refuseDeepJson } from './security/json-depth.js';
import { limitServer, type ServerLimits } from './security/server-limits.js';
import { limitUrlLength } from './security/url-length.middleware.js';
import { answerGone, deprecateV1, V1_HISTORY_PATH } from './v1-history/deprecation.middleware.js';

export interface HttpOptions {
  /** The switch of R-32: v1 answers 410. */
  readonly v1Gone: boolean;
  /** Addresses and subnets of proxies whose X-Forwarded-For tells the client's address. */
  readonly trustedProxies?: readonly string[];
  readonly limits?: ServerLimits;
}

const MAX_BODY = '100kb';
/** The parser knows this option, Nest's type for its options does not. */
const DEPTH_CHECK = { verify: refuseDeepJson };

/** What happens to every request before the router, in this order; before `app.init()`. */
export function configureHttp(app: NestExpressApplication, { v1Gone, trustedProxies, limits }: HttpOptions): void {
  limitServer(app.getHttpServer(), limits);
  answerClientErrors(app.getHttpServer(), { v1Gone });
  app.set('trust proxy', [...(trustedProxies ?? [])]);
  app.disable('x-powered-by');
  // Every page is different: hashing it for a client that will not ask again is work for nothing.
  app.disable('etag');
  app.use(helmet());
  app.use(noStore);
  // Before all that can answer: the refusals below are answers of v1 too.
  app.use(V1_HISTORY_PATH, deprecateV1);
  app.use(admission(app));
  if (v1Gone) app.use(V1_HISTORY_PATH, answerGone);
  app.use(requireHost);
  app.use(refuseExpectations);
  app.use(limitUrlLength);
  app.use(dropIdleConditions(conditionalPaths(openApiDocument)));
  app.use(guardMethods(documentedMethods(openApiDocument)));
  app.use(onlyJsonBodies);
  app.useBodyParser('json', { limit: MAX_BODY, ...DEPTH_CHECK });
  app.use(answerOwnErrors);
}

function admission(app: NestExpressApplication): RequestHandler {
  return admitRequests({
    keys: app.get<KeyDirectory>(KEY_DIRECTORY),
    limiter: app.get<RateLimiter>(RATE_LIMITER),
    addresses: app.get<AddressLimiter>(ADDRESS_LIMITER),
  });
}

/** Answers hold one fleet's data: no cache on the way may keep them. */
const noStore: RequestHandler = (_request, response, next) => {
  response.set('cache-control', 'no-store');
  next();
};

/** What our own checks before the router throw: Nest would make a general error of its own out of it. */
const answerOwnErrors: ErrorRequestHandler = (error: unknown, _request, response, next) => {
  if (error instanceof ApiError) sendApiError(response, error);
  else next(error);
};
