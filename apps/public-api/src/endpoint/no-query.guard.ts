import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { endpointOf } from './endpoint.decorator.js';
import { handlerParameters } from './handler-parameters.js';
import { type QueryText, refuseParameters } from './query-text.js';

/**
 * Refuses query parameters where a handler has none: a pipe only sees what a handler takes, and with an interceptor Nest runs
 * every request through observables.
 */
@Injectable()
export class NoQueryGuard implements CanActivate {
  private readonly takesQuery = new WeakMap<object, boolean>();

  canActivate(context: ExecutionContext): boolean {
    if (!this.isQueryTaken(context)) {
      refuseParameters(context.switchToHttp().getRequest<Request>().query as unknown as QueryText);
    }
    return true;
  }

  private isQueryTaken(context: ExecutionContext): boolean {
    const handler = context.getHandler();
    const known = this.takesQuery.get(handler);
    if (known !== undefined) return known;
    const { query } = handlerParameters(context.getClass(), handler.name);
    // What anyone may read is served with any query: links to it get parameters of all kinds appended.
    const isTaken = query !== null || endpointOf(handler).scope === null;
    this.takesQuery.set(handler, isTaken);
    return isTaken;
  }
}
