import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { Request, Response } from 'express';
import { map, type Observable } from 'rxjs';
import { endpointOf } from './endpoint.decorator.js';
import { entityTag, type Versioned } from './entity-tag.js';
import { handlerParameters } from './handler-parameters.js';
import { type QueryText, refuseParameters } from './query-text.js';

interface HandlerRules {
  readonly takesQuery: boolean;
  readonly etag: boolean;
}

/** Refuses query parameters where a handler has none, and shows the version of what it returns as an `ETag`. */
@Injectable()
export class EndpointInterceptor implements NestInterceptor {
  private readonly rules = new WeakMap<object, HandlerRules>();

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const http = context.switchToHttp();
    const { takesQuery, etag } = this.rulesOf(context);
    if (!takesQuery) refuseParameters(http.getRequest<Request>().query as unknown as QueryText);
    if (!etag) return next.handle();
    return next.handle().pipe(
      map((shown: Versioned<unknown>) => {
        http.getResponse<Response>().set('etag', entityTag(shown.version));
        return shown.resource;
      }),
    );
  }

  private rulesOf(context: ExecutionContext): HandlerRules {
    const handler = context.getHandler();
    const known = this.rules.get(handler);
    if (known !== undefined) return known;
    const { scope, etag = false } = endpointOf(handler);
    const { query } = handlerParameters(context.getClass(), handler.name);
    // What anyone may read is served with any query: links to it get parameters of all kinds appended.
    const rules = { takesQuery: query !== null || scope === null, etag };
    this.rules.set(handler, rules);
    return rules;
  }
}
