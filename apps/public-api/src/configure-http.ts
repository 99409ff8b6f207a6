import type { NestExpressApplication } from '@nestjs/platform-express';
import type { RequestHandler } from 'express';
import helmet from 'helmet';
import { onlyJsonBodies } from './http/json-bodies.middleware.js';
import { guardMethods } from './http/method-guard.middleware.js';
import { openApiDocument } from './openapi/document.js';
import { documentedMethods } from './openapi/documented-methods.js';
import { deprecateV1, V1_HISTORY_PATH } from './v1-history/deprecation.middleware.js';

export interface HttpOptions {
  /** The switch of R-32: v1 answers 410. */
  readonly v1Gone: boolean;
}

const MAX_BODY = '100kb';

/** What happens to every request before the router, in this order; before `app.init()`. */
export function configureHttp(app: NestExpressApplication, { v1Gone }: HttpOptions): void {
  app.disable('x-powered-by');
  // Every page is different: hashing it for a client that will not ask again is work for nothing.
  app.disable('etag');
  app.use(helmet());
  app.use(noStore);
  app.use(V1_HISTORY_PATH, deprecateV1({ gone: v1Gone }));
  app.use(guardMethods(documentedMethods(openApiDocument)));
  app.use(onlyJsonBodies);
  app.useBodyParser('json', { limit: MAX_BODY });
}

/** Answers hold one fleet's data: no cache on the way may keep them. */
const noStore: RequestHandler = (_request, response, next) => {
  response.set('cache-control', 'no-store');
  next();
};
